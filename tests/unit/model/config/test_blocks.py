"""Architectures listed block by block."""

from __future__ import annotations

import pytest

from tonnage.errors import UnknownKeyError, UnreadableError
from tonnage.model.config.blocks import block_layers
from tonnage.model.config.keys import Config
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.gqa import Gqa

WHOLE = {"attention": {"n_heads_in_group": 8, "no_op": False}, "ffn": {"ffn_mult": 5.25, "no_op": False}}
NO_ATTENTION = {"attention": {"n_heads_in_group": None, "no_op": True}, "ffn": {"ffn_mult": 2.625}}
NO_FFN = {"attention": {"n_heads_in_group": 16}, "ffn": {"no_op": True}}


def config(*blocks: object) -> Config:
    return Config({"hidden_size": 8192, "num_attention_heads": 64, "block_configs": list(blocks)})


def test_none_without_the_key() -> None:
    assert block_layers(Config({"hidden_size": 8192})) is None


def test_widths_and_groups() -> None:
    layers = block_layers(config(WHOLE, NO_ATTENTION, NO_FFN))
    assert layers is not None
    whole, no_attention, no_ffn = layers
    # 64 heads in groups of 8 share 8 KV heads; 2 x 5.25 x 8192 / 3 = 28,672 is a multiple of 256.
    assert whole.mixers == (Gqa(64, 8, 128, 128),)
    assert whole.ffns == (Dense(28672),)
    assert [tensor.name for tensor in whole.extras] == ["input_layernorm", "post_attention_layernorm"]
    # 2 x 2.625 x 8192 / 3 = 14,336
    assert (no_attention.mixers, no_attention.ffns) == ((), (Dense(14336),))
    assert [tensor.name for tensor in no_attention.extras] == ["post_attention_layernorm"]
    assert no_ffn.mixers == (Gqa(64, 4, 128, 128),)
    assert no_ffn.ffns == ()


def test_the_width_is_rounded_up() -> None:
    # 2 x 1.3 x 8192 / 3 = 7099.7, cut to 7099, up to the next multiple of 256: 7168
    layers = block_layers(config({"attention": {"no_op": True}, "ffn": {"ffn_mult": 1.3}}))
    assert layers is not None
    assert layers[0].ffns == (Dense(7168),)


@pytest.mark.parametrize("blocks", [(), ("no object",), (3,), ({"ffn": {"ffn_mult": -1.0}},), ({"ffn": {}},)])
def test_bad_blocks_are_refused(blocks: tuple[object, ...]) -> None:
    with pytest.raises(UnreadableError):
        block_layers(config(*blocks))


def test_linear_replacements_are_refused() -> None:
    with pytest.raises(UnknownKeyError, match="replace_with_linear"):
        block_layers(config({"attention": {"replace_with_linear": True}, "ffn": {"no_op": True}}))
