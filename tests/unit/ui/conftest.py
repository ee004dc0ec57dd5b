"""Sample answers in the shape of the JSON contract, with round figures."""

from __future__ import annotations

from typing import Any

import pytest

GIB = 2**30


def line(name: str, gib: float, trace: str = "") -> dict[str, Any]:
    """One line of a ledger, its band a tenth to each side."""
    size = int(gib * GIB)
    return {"name": name, "bytes": size, "low": size * 9 // 10, "high": size * 11 // 10, "basis": "derived"} | (
        {"trace": trace} if trace else {}
    )


def rank(number: int, card_gib: float, **gib: float) -> dict[str, Any]:
    """One rank; free is what its lines leave."""
    lines = [line(name, size, f"{name} of rank {number}") for name, size in gib.items()]
    free = int(card_gib * GIB) - sum(entry["bytes"] for entry in lines)
    return {
        "rank": number,
        "card_bytes": int(card_gib * GIB),
        "budget_bytes": int(card_gib * GIB * 0.92),
        "lines": lines,
        "free_bytes": free,
    }


def remedy(change: dict[str, Any], layout: str, requests: float, length: int = 131_072) -> dict[str, Any]:
    """A change that was tried and fits."""
    effect = f"{layout}: {requests:.1f} requests at {length:,} tokens"
    parts = {"layout": layout, "max_model_len": length, "requests": requests}
    return {"change": change, "effect": effect, "fits": True} | parts


LEDGER = {
    "weights": 194.4,
    "kv_cache": 52.6,
    "activations": 6.1,
    "cuda_graphs": 1.4,
    "communication": 1.0,
    "context": 1.5,
}


@pytest.fixture
def fits() -> dict[str, Any]:
    """Kimi K3 on eight MI355X: 288 GiB cards, 257 GiB used, 31 free."""
    return {
        "id": None,
        "fits": True,
        "verdict": "fits",
        "reason": "TP8 leaves 31.0 GiB free on the fullest card",
        "model": {"id": "moonshotai/Kimi-K3"},
        "fleet": {"nodes": 1, "count": 8, "accelerator": "amd-mi355x", "name": "MI355X"},
        "engine": "vllm",
        "engine_version": "0.33",
        "layout": {"tp": 8, "pp": 1, "dp": 1, "ep": False, "dcp": 1, "dp_attention": False, "words": "TP8"},
        "ranks": [rank(number, 288, **LEDGER) for number in range(8)],
        "busiest_rank": 0,
        "weights_bytes_per_rank": int(194.4 * GIB),
        "kv_cache_bytes_per_rank": int(52.6 * GIB),
        "kv_bytes_per_token_per_rank": 27_648,
        "state_bytes_per_request_per_rank": 429 * 2**20,
        "kv_cache_tokens": 2_042_774,
        "max_concurrency_x": 13.8,
        "concurrency_all_replicas": 13.8,
        "kv_needed_bytes": int(3.81 * GIB),
        "max_context": 1_048_576,
        "load_peak_bytes": 196 * GIB,
        "serving": {"max_model_len": 131_072, "max_num_seqs": 256},
        "remedies": [
            remedy({"dp_attention": True}, "DP8 x EP", 92.0),
            remedy({"kv_cache_dtype": "fp8"}, "TP8", 26.9),
        ],
        "because": [
            "896 experts stay resident though 16 act per token",
            "MLA latents are copied to each rank",
            "TP8 is the simplest layout, and it fits",
        ],
        "notes": [],
    }


@pytest.fixture
def too_heavy() -> dict[str, Any]:
    """Llama 3.1 405B on eight H100: 94.5 GiB of weights on a card of 79.2."""
    return {
        "id": "q1",
        "fits": False,
        "verdict": "weights-exceed-card",
        "reason": "weights need 94.5 GiB a card, the card has 79.2 GiB",
        "model": {"id": "meta-llama/Llama-3.1-405B"},
        "fleet": {"nodes": 1, "count": 8, "accelerator": "nvidia-h100-sxm-80gb", "name": "H100 SXM5 80GB"},
        "engine": "vllm",
        "engine_version": "0.33",
        "layout": {"tp": 8, "pp": 1, "dp": 1, "ep": False, "dcp": 1, "dp_attention": False, "words": "TP8"},
        "ranks": [rank(number, 79.2, weights=94.5, activations=2.0, context=1.5) for number in range(8)],
        "busiest_rank": 0,
        "weights_bytes_per_rank": int(94.5 * GIB),
        "kv_cache_bytes_per_rank": 0,
        "kv_bytes_per_token_per_rank": 64_512,
        "kv_cache_tokens": 0,
        "max_concurrency_x": 0.0,
        "kv_needed_bytes": int(7.9 * GIB),
        "max_context": 0,
        "load_peak_bytes": int(95.1 * GIB),
        "serving": {"max_model_len": 131_072},
        "remedies": [
            remedy({"nodes": 2, "gpu_count": 16}, "TP8 x PP2", 4.1),
            remedy({"quantization": "fp8"}, "TP8", 2.3),
            remedy({"gpu": "MI300X"}, "TP8", 9.6),
            remedy({"quantization": "int4"}, "TP8", 0.0) | {"fits": False},
        ],
        "notes": [],
    }


@pytest.fixture
def invalid() -> dict[str, Any]:
    """A layout the engine refuses: no ledger, no layout."""
    return {
        "id": None,
        "fits": False,
        "verdict": "layout-invalid",
        "reason": "tensor parallel size: 3: a divisor of the 64 attention heads: 1, 2, 4, 8, 16, 32 or 64",
        "model": {"id": "Qwen/Qwen3-235B-A22B-FP8"},
        "fleet": {"nodes": 1, "count": 3, "accelerator": "amd-mi300x", "name": "MI300X"},
        "layout": None,
        "engine": "sglang",
        "engine_version": "0.5.9",
        "ranks": [],
        "remedies": [remedy({"tp": 2}, "TP2", 3.0, 40_960)],
        "notes": [],
    }


@pytest.fixture
def stages(fits: dict[str, Any]) -> dict[str, Any]:
    """Six different pipeline stages of two ranks each, and more notes than a screen takes."""
    ranks = [rank(n, 80, weights=50 + n // 2, kv_cache=10, activations=2, context=1) for n in range(12)]
    notes = [
        f"note {n}: " + "a long explanation that needs more than one line of eighty characters " * 2 for n in range(9)
    ]
    return fits | {
        "fleet": {"nodes": 2, "count": 6, "accelerator": "x", "name": "X80"},
        "layout": {"tp": 2, "pp": 6},
        "ranks": ranks,
        "busiest_rank": 11,
        "notes": notes,
    }
