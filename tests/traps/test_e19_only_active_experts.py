"""E19: a mixture reads few experts for a token but keeps all of them in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]


def test_all_experts_are_resident(ask: Ask) -> None:
    # The speed side (few experts read at one request) belongs to the speed model; here: memory is for all of them.
    answer = ask("moonshotai/Kimi-K3", "8xMI355X", tp=8)
    count = answer["model"]["parameters"]
    # About 104 billion active of 2.78 trillion: 27 times fewer.
    assert 100_000_000_000 < count["active"] < 108_000_000_000
    assert count["total"] > 26 * count["active"]
    assert 8 * answer["weights_bytes_per_rank"] > 0.98 * answer["model"]["stored_bytes"]


def test_active_counts_of_published_models(ask: Ask) -> None:
    # 37 billion without the embedding table, 22 and 5.1 billion, as the publishers say
    published = {"deepseek-ai/DeepSeek-V3": 37, "Qwen/Qwen3-235B-A22B": 22, "openai/gpt-oss-120b": 5.1}
    for model, billions in published.items():
        active = ask(model, "8xMI355X", tp=8)["model"]["parameters"]["active"]
        assert abs(active / 1e9 - billions) < 0.03 * billions, model
