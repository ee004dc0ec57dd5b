"""E24: the total is a sum of lines, not the weights times 1.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]
Line = Callable[..., int]


@pytest.mark.parametrize("length", [8192, 131072])
def test_lines_add_up(ask: Ask, length: int) -> None:
    answer = ask("meta-llama/Meta-Llama-3.1-8B", "1xMI300X", tp=1, max_model_len=length)
    for rank in answer["ranks"]:
        assert sum(part["bytes"] for part in rank["lines"]) + rank["free_bytes"] == rank["card_bytes"]


def test_a_long_request_needs_more_than_a_fifth(ask: Ask) -> None:
    answer = ask("meta-llama/Meta-Llama-3.1-8B", "1xMI300X", tp=1, max_model_len=131072)
    # 131,072 x 32 layers x 2 x 8 x 128 x 2 bytes = 16 GiB beside 15 GiB of weights
    assert answer["kv_needed_bytes"] == 16 * 2**30
    assert answer["kv_needed_bytes"] > 0.2 * answer["weights_bytes_per_rank"] + 2 * 2**30


def test_overheads_do_not_follow_the_weights(ask: Ask, line: Line) -> None:
    small = ask("Qwen/Qwen3-30B-A3B", "1xMI300X", tp=1, max_num_seqs=64)
    # 61 GB of weights; a fifth of them would be 12 GB
    rest = sum(line(small, name) for name in ("activations", "cuda_graphs", "communication", "context"))
    assert rest < 0.12 * small["weights_bytes_per_rank"]
