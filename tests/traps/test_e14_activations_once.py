"""E14: every rank needs its own activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]
Line = Callable[..., int]


def test_each_rank_has_the_line(ask: Ask, line: Line) -> None:
    answer = ask("meta-llama/Meta-Llama-3.1-405B", "8xMI300X", tp=8)
    sizes = [line(answer, "activations", rank) for rank in range(8)]
    # 8192 or more tokens x 16,384 values x 2 bytes is one copy of the residual alone: 256 MiB a rank.
    assert min(sizes) > 8192 * 16_384 * 2


def test_more_ranks_do_not_thin_them_out(ask: Ask, line: Line) -> None:
    one = line(ask("meta-llama/Meta-Llama-3.1-8B", "1xMI300X", tp=1), "activations")
    eight = line(ask("meta-llama/Meta-Llama-3.1-8B", "8xMI300X", tp=8), "activations")
    assert eight > one // 8 * 2
