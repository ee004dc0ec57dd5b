"""What the trap tests share: looking into an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def line() -> Callable[..., int]:
    """`line(answer, name, rank=0)`: bytes of the lines called `name` of one rank."""

    def find(answer: dict[str, Any], name: str, rank: int = 0) -> int:
        return sum(part["bytes"] for part in answer["ranks"][rank]["lines"] if part["name"] == name)

    return find


@pytest.fixture
def config(tmp_path: Path) -> Callable[..., str]:
    """`config(**keys)`: the path of a small dense `config.json` with those keys set or, by None, removed."""

    def write(**keys: Any) -> str:
        path = tmp_path / f"config-{len(list(tmp_path.iterdir()))}.json"
        whole = {key: value for key, value in {**DENSE, **keys}.items() if value is not None}
        path.write_text(json.dumps(whole), encoding="utf-8")
        return str(path)

    return write


DENSE = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 1024,
    "intermediate_size": 2048,
    "moe_intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 64,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "num_experts": 64,
    "num_experts_per_tok": 4,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "norm_topk_prob": True,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-06,
    "rope_theta": 10000.0,
    "attention_bias": False,
}
