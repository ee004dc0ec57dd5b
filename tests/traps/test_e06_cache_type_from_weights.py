"""E6: quantised weights do not make a quantised cache; `auto` is the type of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("model", "fleet", "token"),
    [
        ("Qwen/Qwen3-235B-A22B-FP8", "4xH200", 94 * 2 * 1 * 128 * 2),  # FP8 weights, TP4
        ("openai/gpt-oss-120b", "1xH200", 18 * 2 * 8 * 64 * 2),  # MXFP4 weights, 18 full layers grow
        ("moonshotai/Kimi-K2-Thinking", "8xH200", 61 * 576 * 2),  # INT4 weights
    ],
)
def test_auto(ask: Ask, model: str, fleet: str, token: int) -> None:
    answer = ask(model, fleet, tp=int(fleet[0]))
    assert answer["serving"]["kv_cache_dtype"] == "bfloat16"
    assert answer["kv_bytes_per_token_per_rank"] == token


def test_asked_for_fp8_it_halves(ask: Ask) -> None:
    answer = ask("Qwen/Qwen3-235B-A22B-FP8", "4xH200", tp=4, kv_cache_dtype="fp8")
    assert answer["kv_bytes_per_token_per_rank"] == 24_064
