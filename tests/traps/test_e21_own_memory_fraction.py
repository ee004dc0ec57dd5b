"""E21: the share of the card is the engine's default at that version, not ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("version", "fraction"),
    [("0.6.6", 0.90), ("0.10.0", 0.90), ("0.18.0", 0.90), ("0.33.0", 0.92)],
)
def test_vllm(ask: Ask, version: str, fraction: float) -> None:
    answer = ask("Qwen/Qwen3-8B", "1xH100", engine_version=version)
    rank = answer["ranks"][0]
    assert answer["serving"]["fraction"] == fraction
    assert rank["budget_bytes"] == pytest.approx(fraction * rank["card_bytes"], abs=1)


def test_the_default_is_worth_a_gibibyte_and_a_half(ask: Ask) -> None:
    old = ask("Qwen/Qwen3-8B", "1xH100", gpu_memory_utilization=0.90)
    new = ask("Qwen/Qwen3-8B", "1xH100")
    # 0.02 of 79.18 GiB
    assert new["kv_cache_bytes_per_rank"] - old["kv_cache_bytes_per_rank"] == pytest.approx(1.58 * 2**30, rel=0.02)


def test_sglang_has_its_own(ask: Ask) -> None:
    answer = ask("Qwen/Qwen3-8B", "1xH100", engine="sglang")
    assert 0.75 < answer["serving"]["fraction"] < 0.90
