"""A small model in a folder, so that a whole process can be asked without the network or the catalogue's models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

# A dense decoder of 8 billion parameters with grouped-query attention.
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "hidden_act": "silu",
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "attention_bias": False,
    "mlp_bias": False,
}


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `config.json` of 8 billion parameters."""
    folder = tmp_path_factory.mktemp("models") / "small-8b"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    return folder
