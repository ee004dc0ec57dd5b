"""E13: tensor parallelism costs buffers, not a share of the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]
Line = Callable[..., int]


def test_buffers_do_not_follow_the_weights(ask: Ask, line: Line) -> None:
    small = ask("meta-llama/Meta-Llama-3.1-8B", "8xMI300X", tp=8)
    large = ask("meta-llama/Meta-Llama-3.1-405B", "8xMI300X", tp=8)
    assert line(small, "communication") == line(large, "communication")
    # 12 % of 811.7 GB would be 97 GB over all cards; buffers stay below 3 GiB a card.
    assert 0 < line(large, "communication") < 3 * 2**30


def test_weights_over_all_ranks_are_the_model(ask: Ask, line: Line) -> None:
    answer = ask("meta-llama/Meta-Llama-3.1-405B", "8xMI300X", tp=8)
    total = sum(line(answer, "weights", rank) for rank in range(8))
    # 811,706,777,600 bytes and what each rank keeps whole: norms and rotary tables, 0.04 GiB a rank
    assert 811_706_777_600 <= total < 811_706_777_600 + 8 * 45_000_000
