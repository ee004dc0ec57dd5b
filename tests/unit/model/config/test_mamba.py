"""Keys of state-space mixers and of models that alternate them with attention."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.config.mamba import mamba_layers, read_mamba, read_mamba1, read_mamba2
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mamba import Mamba1, Mamba2

BASE: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "mamba_d_state": 16,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
}
JAMBA = {
    **BASE,
    "model_type": "jamba",
    "mamba_dt_rank": 8,
    "attn_layer_period": 4,
    "attn_layer_offset": 1,
    "expert_layer_period": 2,
    "expert_layer_offset": 1,
    "num_experts": 4,
    "num_experts_per_tok": 2,
}
GRANITE = {
    **BASE,
    "model_type": "granitemoehybrid",
    "layer_types": ["mamba", "attention", "mamba", "mamba"],
    "mamba_n_heads": 8,
    "mamba_d_head": 16,
    "mamba_n_groups": 1,
    "shared_intermediate_size": 96,
    "num_local_experts": 0,
    "num_experts_per_tok": 0,
}


def kinds(config: dict[str, Any]) -> list[list[type]]:
    return [[type(mixer) for mixer in layer.mixers] for layer in mamba_layers(Config(config))]


def test_jamba_counts_periods() -> None:
    layers = mamba_layers(Config(JAMBA))
    assert kinds(JAMBA) == [[Mamba1], [Gqa], [Mamba1], [Mamba1]]
    assert [type(layer.ffns[0]) for layer in layers] == [Dense, Moe, Dense, Moe]
    assert layers[0].mixers[0] == Mamba1(128, 16, 4, 8, inner_norms=True)


def test_a_low_rank_of_auto_is_a_sixteenth() -> None:
    assert read_mamba1(Config({**JAMBA, "mamba_dt_rank": "auto", "hidden_size": 65})).dt_rank == 5


def test_granite_lists_kinds() -> None:
    layers = mamba_layers(Config(GRANITE))
    assert kinds(GRANITE) == [[Mamba2], [Gqa], [Mamba2], [Mamba2]]
    assert layers[0].mixers[0] == Mamba2(8, 16, 1, 16, 4, name="mamba")
    assert layers[0].ffns == (Dense(96, name="shared_mlp"),)


def test_granite_with_experts_shares_one() -> None:
    part = mamba_layers(Config({**GRANITE, "num_local_experts": 4, "num_experts_per_tok": 2}))[0].ffns[0]
    assert isinstance(part, Moe)
    assert (part.experts, part.width, part.shared_width) == (4, 128, 96)


def test_bamba_lists_attention_layers() -> None:
    bamba = {**BASE, "mamba_n_heads": 8, "mamba_n_groups": 1, "attn_layer_indices": [2]}
    assert kinds(bamba) == [[Mamba2], [Mamba2], [Gqa], [Mamba2]]


def test_falcon_h1_has_both_in_every_layer() -> None:
    falcon = {**BASE, "mamba_n_heads": 8, "mamba_d_head": 24, "mamba_d_ssm": 192, "mamba_rms_norm": False}
    assert kinds(falcon) == [[Gqa, Mamba2]] * 4
    mixer = read_mamba2(Config(falcon))
    assert (mixer.inner, mixer.gated_norm) == (192, False)


def test_head_width_follows_from_the_expansion() -> None:
    assert read_mamba2(Config({**GRANITE, "mamba_d_head": "auto"})).head_dim == 16
    assert read_mamba2(Config({**GRANITE, "mamba_ssm_cache_dtype": "float32"})).state_dtype == "float32"


def test_the_low_rank_tells_the_generation() -> None:
    assert isinstance(read_mamba(Config(JAMBA)), Mamba1)
    assert isinstance(read_mamba(Config(GRANITE)), Mamba2)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnknownKeyError, match=r"layer_types: 'hyena'"):
        mamba_layers(Config({**GRANITE, "layer_types": ["hyena"] * 4}))


def test_no_word_about_attention_layers_is_refused() -> None:
    with pytest.raises(TonnageError, match="attn_layer_period"):
        mamba_layers(Config({**GRANITE, "layer_types": None}))
