"""Keys of models that alternate gated DeltaNet and softmax attention."""

from __future__ import annotations

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.deltanet import deltanet_layers, is_linear, read_deltanet
from tonnage.model.config.keys import Config
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa

TINY: dict[str, object] = {
    "model_type": "qwen3_5_text",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "attn_output_gate": True,
    "full_attention_interval": 4,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4,
    "mamba_ssm_dtype": "float32",
}
KINDS = ["linear_attention", "full_attention", "linear_attention", "full_attention"]


def test_every_fourth_layer_is_full() -> None:
    layers = deltanet_layers(Config(TINY))
    assert [type(layer.mixers[0]) for layer in layers] == [DeltaNet, DeltaNet, DeltaNet, Gqa]
    full = layers[3].mixers[0]
    assert isinstance(full, Gqa)
    assert (full.out_gate, full.qk_norm) == ("full", "head")


def test_a_list_of_kinds_wins_over_the_interval() -> None:
    cfg = Config({**TINY, "layer_types": KINDS})
    assert [is_linear(cfg, index) for index in range(4)] == [True, False, True, False]


def test_the_linear_attention() -> None:
    assert read_deltanet(Config(TINY)) == DeltaNet(2, 4, 8, 8, 4, "float32")
    older = Config({**TINY, "model_type": "qwen3_next", "mamba_ssm_dtype": None})
    assert read_deltanet(older) == DeltaNet(2, 4, 8, 8, 4, None, merged=True)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnknownKeyError, match=r"layer_types: 'retention'"):
        deltanet_layers(Config({**TINY, "layer_types": ["retention", *KINDS[1:]]}))


@pytest.mark.parametrize("key", ["linear_num_key_heads", "linear_conv_kernel_dim", "full_attention_interval"])
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(TonnageError, match=key):
        deltanet_layers(Config({**TINY, key: None}))
