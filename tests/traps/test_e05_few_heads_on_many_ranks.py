"""E5: fewer KV heads than ranks are copied, not cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(("tp", "heads"), [(1, 4), (2, 2), (4, 1), (8, 1)])
def test_four_heads(ask: Ask, tp: int, heads: int) -> None:
    answer = ask("Qwen/Qwen3-235B-A22B", f"{tp}xMI355X", tp=tp, max_model_len=32768)
    # 94 layers x keys and values x heads of this rank x 128 x 2 bytes; half a head at TP8 would be 24,064
    assert answer["kv_bytes_per_token_per_rank"] == 94 * 2 * heads * 128 * 2


def test_eight_heads_over_sixteen_ranks(ask: Ask) -> None:
    eight = ask("meta-llama/Meta-Llama-3.1-405B", "8xMI355X", tp=8)
    sixteen = ask("meta-llama/Meta-Llama-3.1-405B", "16xMI355X", tp=16)
    # 126 layers x 2 x 1 head x 128 x 2 bytes on both
    assert eight["kv_bytes_per_token_per_rank"] == sixteen["kv_bytes_per_token_per_rank"] == 64_512


def test_key_projections_are_copied_too(ask: Ask) -> None:
    half = ask("Qwen/Qwen3-235B-A22B", "4xMI355X", tp=4)["weights_bytes_per_rank"]
    quarter = ask("Qwen/Qwen3-235B-A22B", "8xMI355X", tp=8)["weights_bytes_per_rank"]
    # One head of keys and values a rank: 94 layers x 2 x 128 rows x 4096 x 2 bytes are not halved.
    assert 2 * quarter - half >= 94 * 2 * 128 * 4096 * 2
