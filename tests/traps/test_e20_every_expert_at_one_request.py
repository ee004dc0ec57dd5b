"""E20: the number of active parameters does not grow with the number of experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]
Config = Callable[..., str]


def test_more_experts_are_more_memory_not_more_work(ask: Ask, config: Config) -> None:
    few = ask(config(num_experts=64), "1xH100", tp=1)
    many = ask(config(num_experts=128), "1xH100", tp=1)
    expert = 3 * 512 * 1024
    # 4 layers x 64 more experts in BF16 must be held, and 4 x 64 rows of the router
    assert many["weights_bytes_per_rank"] - few["weights_bytes_per_rank"] == 4 * 64 * (expert + 1024) * 2
    # Read for one token are 4 of them a layer in both; only the router grew.
    assert many["model"]["parameters"]["active"] - few["model"]["parameters"]["active"] == 4 * 64 * 1024
