"""E10: the number and width of experts has several spellings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]
Config = Callable[..., str]


def test_an_expert_is_three_matrices(ask: Ask, config: Config) -> None:
    answer = ask(config(), "1xH100", tp=1)
    # Per layer: 64 experts x 3 x 512 x 1024, a router 64 x 1024, q and o 1024 x 1024, k and v 256 x 1024, norms.
    layer = 64 * 3 * 512 * 1024 + 64 * 1024 + 2 * 1024 * 1024 + 2 * 256 * 1024 + 2 * 1024 + 2 * 64
    total = 4 * layer + 2 * 32000 * 1024 + 1024
    assert answer["model"]["parameters"]["total"] == total
    assert answer["weights_bytes_per_rank"] >= 2 * total


def test_published_totals(ask: Ask) -> None:
    published = {
        "deepseek-ai/DeepSeek-V3": 671_026_419_200,  # n_routed_experts; without the next-token layer
        "Qwen/Qwen3-235B-A22B": 235_093_634_560,  # num_experts
        "mistralai/Mixtral-8x7B-v0.1": 46_702_792_704,  # num_local_experts, intermediate_size
        "openai/gpt-oss-120b": 116_829_156_672,  # num_local_experts
    }
    for model, total in published.items():
        assert ask(model, "8xMI355X", tp=8)["model"]["parameters"]["text"] == total, model
