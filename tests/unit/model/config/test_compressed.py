"""Keys of DeepSeek V4 and V4.1."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.model.arch import Layer
from tonnage.model.config.compressed import (
    compressed_layer,
    compressed_layers,
    hyper_connections,
    mix,
    read_compressed,
    stream_head,
    streams,
)
from tonnage.model.config.keys import Config
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.indexer import Indexer

TINY: dict[str, Any] = {
    "model_type": "deepseek_v4",
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "head_dim": 16,
    "qk_rope_head_dim": 4,
    "q_lora_rank": 8,
    "o_lora_rank": 8,
    "o_groups": 2,
    "sliding_window": 128,
    "compress_ratios": [0, 4, 128, 4, 0],
    "index_n_heads": 2,
    "index_head_dim": 8,
    "index_topk": 16,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "num_hash_layers": 1,
    "topk_method": "noaux_tc",
    "vocab_size": 100,
    "hc_mult": 4,
}
SHARED = {
    **TINY,
    "compress_ratios": [0, 2, 2, 1],
    "kv_source_layer_ids": [1, 3],
    "index_source_layer_ids": [1, 2, 3],
    "num_hash_layers": None,
}


def mixers(config: dict[str, Any]) -> list[Compressed]:
    found = []
    for layer in compressed_layers(Config(config)):
        mixer = layer.mixers[0]
        assert isinstance(mixer, Compressed)
        found.append(mixer)
    return found


def experts(layer: Layer) -> Moe:
    part = layer.ffns[0]
    assert isinstance(part, Moe)
    return part


def test_one_ratio_for_each_layer() -> None:
    assert [mixer.ratio for mixer in mixers(TINY)] == [0, 4, 128, 4]
    assert [mixer.indexer for mixer in mixers(TINY)] == [None, Indexer(2, 8, 16), None, Indexer(2, 8, 16)]
    assert all(mixer.owns_kv and not mixer.shares_latent for mixer in mixers(TINY))


def test_first_layers_route_by_a_table_of_tokens() -> None:
    first, second = (experts(layer) for layer in compressed_layers(Config(TINY))[:2])
    assert (first.hash_rows, first.router_bias) == (100, False)
    assert (second.hash_rows, second.router_bias) == (None, True)
    assert first.name == "ffn"


def test_entries_shared_across_layers() -> None:
    found = mixers(SHARED)
    assert [mixer.owns_kv for mixer in found] == [True, True, False, True]
    assert [mixer.indexer is not None for mixer in found] == [False, True, True, True]
    assert all(mixer.shares_latent for mixer in found)


def test_a_layer_behind_the_last_one_is_a_draft() -> None:
    assert read_compressed(Config(TINY), 4).ratio == 0
    assert read_compressed(Config(TINY), 9).ratio == 0
    assert compressed_layer(Config(SHARED), 4).mixers[0] == read_compressed(Config(SHARED), 4)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"compress_ratios": [0, 4, 64, 4]}, "compress_ratios: 64: one of 0, 4, 128"),
        ({"compress_ratios": [0, 4, 2, 4]}, "compress_ratios: 2: one of 0, 4, 128"),
        ({"compress_ratios": [0, 4]}, "2 entries"),
        ({"compress_ratios": [0, 4, 2, 4], "kv_source_layer_ids": [1]}, "compress_ratios: 4: one of 0, 1, 2"),
    ],
)
def test_an_unknown_ratio_is_named(keys: dict[str, object], words: str) -> None:
    with pytest.raises(UnknownKeyError) as refusal:
        compressed_layers(Config({**TINY, **keys}))
    assert words in refusal.value.line


def test_hyper_connections() -> None:
    # 4 streams: 24 mixing values from 4 x 32 inputs, 24 constants, 3 scales, before attention and experts
    tensors = hyper_connections(Config(TINY))
    assert sum(tensor.params for tensor in tensors) == 2 * (24 * 128 + 24 + 3)
    assert {tensor.dtype for tensor in tensors} == {"float32"}
    assert hyper_connections(Config({**TINY, "hc_mult": None})) == ()


def test_number_of_streams() -> None:
    assert (streams(Config(TINY)), streams(Config({}))) == (4, 1)


def test_streams_are_joined_behind_the_last_layer() -> None:
    # 4 values from 4 x 32 inputs, 4 constants, 1 scale
    assert sum(tensor.params for tensor in stream_head(Config(TINY), "model.")) == 4 * 128 + 4 + 1
    assert stream_head(Config(SHARED), "model.") == ()
    assert stream_head(Config({}), "") == ()


def test_one_mixing() -> None:
    assert [(tensor.name, tensor.rows, tensor.cols) for tensor in mix("hc", 3, 5, 1)] == [
        ("hc_fn", 3, 5),
        ("hc_base", 3, 1),
        ("hc_scale", 1, 1),
    ]


def test_layers_have_two_norms() -> None:
    names = [tensor.name for tensor in compressed_layers(Config({**TINY, "hc_mult": None}))[0].extras]
    assert names == ["attn_norm", "ffn_norm"]
