"""Keys of Nemotron-H and Nemotron 3."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.config.nemotron import nemotron_layer, nemotron_layers, read_kinds, read_nemotron_mamba
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mamba import Mamba2
from tonnage.model.tensors import layer_tensors

TINY: dict[str, Any] = {
    "model_type": "nemotron_h",
    "hidden_size": 32,
    "intermediate_size": 64,
    "hybrid_override_pattern": "M-M*E",
    "num_hidden_layers": 5,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "mlp_hidden_act": "relu2",
    "mamba_num_heads": 4,
    "mamba_head_dim": 8,
    "n_groups": 2,
    "ssm_state_size": 16,
    "conv_kernel": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "n_shared_experts": 1,
    "moe_shared_expert_intermediate_size": 24,
    "moe_latent_size": 8,
}
LISTED = {**TINY, "hybrid_override_pattern": None, "layers_block_type": ["mamba", "moe", "attention"]}


def test_letters_and_lists() -> None:
    assert read_kinds(Config(TINY), "hybrid_override_pattern", "layers_block_type") == (
        "mamba",
        "mlp",
        "mamba",
        "attention",
        "moe",
    )
    assert len(nemotron_layers(Config({**LISTED, "num_hidden_layers": None}))) == 3
    assert read_kinds(Config({}), "hybrid_override_pattern", "layers_block_type") == ()


def test_layers_have_one_part_each() -> None:
    layers = nemotron_layers(Config(TINY))
    assert [len(layer.mixers) + len(layer.ffns) for layer in layers] == [1] * 5
    assert [type(part) for layer in layers for part in (*layer.mixers, *layer.ffns)] == [
        Mamba2,
        Dense,
        Mamba2,
        Gqa,
        Moe,
    ]
    assert {part.name for layer in layers for part in (*layer.mixers, *layer.ffns)} == {"mixer"}


def test_two_matrices_without_a_gate() -> None:
    dense = nemotron_layer(Config(TINY), "mlp")
    assert dense.ffns == (Dense(64, gated=False, name="mixer"),)
    assert sum(tensor.params for tensor in layer_tensors(dense, 32)) == 2 * 32 * 64 + 32


def test_experts_in_a_latent() -> None:
    # router 4 x 32, experts 4 x 2 x 8 x 16, latent 2 x 32 x 8, shared 2 x 32 x 24, norm 32
    layer = nemotron_layer(Config(TINY), "moe")
    assert sum(tensor.params for tensor in layer_tensors(layer, 32)) == 128 + 1024 + 512 + 1536 + 32
    part = layer.ffns[0]
    assert isinstance(part, Moe)
    assert part.router_dtype == "float32"


def test_corrections_have_bytes_and_are_not_counted() -> None:
    bias = nemotron_layer(Config(TINY), "moe").extras[-1]
    assert (bias.name, bias.rows, bias.params, bias.dtype) == ("mixer.gate.e_score_correction_bias", 4, 0, "float32")


def test_the_state_is_32_bits_wide_unless_stated() -> None:
    assert read_nemotron_mamba(Config(TINY)) == Mamba2(4, 8, 2, 16, 4, state_dtype="float32")
    stated = Config({**TINY, "mamba_ssm_cache_dtype": "float16", "use_conv_bias": False, "use_bias": True})
    assert read_nemotron_mamba(stated) == Mamba2(4, 8, 2, 16, 4, conv_bias=False, proj_bias=True, state_dtype="float16")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"hybrid_override_pattern": "M-X*E"}, "hybrid_override_pattern: 'X'"),
        ({"layers_block_type": ["mamba", "retention"]}, "layers_block_type: 'retention'"),
        ({"layers_block_type": ["mamba", 3]}, "layers_block_type: 3"),
        ({"num_hidden_layers": 6}, "num_hidden_layers: 6: the 5 layers of the pattern"),
        ({"hybrid_override_pattern": "M" * 1025}, "1025 layers"),
    ],
)
def test_an_unknown_pattern_is_named(keys: dict[str, object], words: str) -> None:
    with pytest.raises(UnknownKeyError) as refusal:
        nemotron_layers(Config({**TINY, **keys}))
    assert words in refusal.value.line
