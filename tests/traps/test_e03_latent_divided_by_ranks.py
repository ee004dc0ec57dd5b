"""E3: each tensor-parallel rank keeps the whole latent, so cards do not pool their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(("fleet", "tp"), [("4xMI355X", 4), ("8xMI355X", 8), ("16xMI355X", 16)])
def test_a_token_costs_the_same_on_every_rank(ask: Ask, fleet: str, tp: int) -> None:
    answer = ask("deepseek-ai/DeepSeek-V3", fleet, tp=tp, max_model_len=8192)
    assert answer["kv_bytes_per_token_per_rank"] == 70_272


def test_concurrency_is_that_of_one_rank(ask: Ask) -> None:
    answer = ask("deepseek-ai/DeepSeek-V3", "8xMI300X", tp=8, max_model_len=131072)
    # Not 8 pools: about 87 GiB a rank / 8.578 GiB a request is 10, where pooling would promise 80.
    assert answer["max_concurrency_x"] == pytest.approx(answer["kv_cache_bytes_per_rank"] / 9_210_691_584, rel=0.001)
    assert 8 < answer["max_concurrency_x"] < 12


def test_replicated_attention_shares_no_request(ask: Ask) -> None:
    # With data-parallel attention each rank serves its own requests, so the replicas add up.
    answer = ask("deepseek-ai/DeepSeek-V3", "8xMI300X", dp_attention=True, max_model_len=131072)
    assert answer["concurrency_all_replicas"] == pytest.approx(8 * answer["max_concurrency_x"], rel=1e-4)
