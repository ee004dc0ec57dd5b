"""Attention read from configuration keys."""

from __future__ import annotations

import pytest

from tonnage.errors import UnknownKeyError, UnreadableError
from tonnage.model.config.attention import layer_kind, read_attention, read_gqa, read_mla
from tonnage.model.config.keys import Config
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla

LLAMA: dict[str, object] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
DEEPSEEK: dict[str, object] = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}


def gqa(index: int = 0, **keys: object) -> Gqa:
    return read_gqa(Config({**LLAMA, **keys}), index)


def mla(index: int = 0, **keys: object) -> Mla:
    return read_mla(Config({**DEEPSEEK, **keys}), index)


def test_plain_grouped_query_attention() -> None:
    # head_dim is absent: 4096 / 32 = 128.
    assert gqa() == Gqa(heads=32, kv_heads=8, head_dim=128, v_head_dim=128)


def test_without_kv_heads_every_head_has_its_own() -> None:
    assert gqa(num_key_value_heads=None).kv_heads == 32
    assert gqa(num_key_value_heads=None, multi_query=True).kv_heads == 1
    assert gqa(num_kv_heads=4, num_key_value_heads=None, multi_query=True, new_decoder_architecture=True).kv_heads == 4


def test_head_dim_from_key_then_type_then_width() -> None:
    assert gqa(head_dim=64).head_dim == 64
    assert gqa(model_type="qwen3", hidden_size=1024, num_attention_heads=16).head_dim == 128
    assert gqa(hidden_size=1024, num_attention_heads=16).head_dim == 64


@pytest.mark.parametrize(
    ("keys", "qkv", "out"),
    [
        ({}, False, False),
        ({"attention_bias": True}, True, True),
        ({"attention_bias": False}, False, False),
        ({"qkv_bias": True}, True, False),
        ({"model_type": "qwen2"}, True, False),
        ({"model_type": "glm4_moe", "attention_bias": True}, True, False),
        ({"model_type": "seed_oss", "attention_bias": True, "attention_out_bias": False}, True, False),
        ({"model_type": "gpt_oss", "attention_bias": True}, True, True),
        ({"model_type": "gpt2"}, True, True),
    ],
)
def test_biases(keys: dict[str, object], qkv: bool, out: bool) -> None:
    mixer = gqa(0, **keys)
    assert (mixer.qkv_bias, mixer.out_bias) == (qkv, out)


@pytest.mark.parametrize(
    ("keys", "scope"),
    [
        ({}, "none"),
        ({"model_type": "qwen3"}, "head"),
        ({"model_type": "olmo2"}, "full"),
        ({"use_qk_norm": True}, "head"),
        ({"use_qk_norm": False, "model_type": "qwen3"}, "none"),
        ({"use_qk_norm": True, "qk_norm_type": "per_layer"}, "full"),
        ({"use_qk_norm": True, "qk_norm_type": "per_head"}, "head"),
        # Llama 4 normalises without weights.
        ({"use_qk_norm": True, "model_type": "llama4_text"}, "none"),
        ({"use_qk_norm": True, "model_type": "cohere"}, "full"),
    ],
)
def test_query_and_key_norms(keys: dict[str, object], scope: str) -> None:
    assert gqa(0, **keys).qk_norm == scope


def test_an_unknown_norm_scope_is_refused() -> None:
    with pytest.raises(UnknownKeyError, match="qk_norm_type"):
        gqa(use_qk_norm=True, qk_norm_type="per_moon")


@pytest.mark.parametrize(
    ("keys", "gate"),
    [
        ({}, "none"),
        ({"attn_output_gate": True}, "full"),
        ({"attn_output_gate": False, "model_type": "qwen3_next"}, "none"),
        ({"model_type": "qwen3_next"}, "full"),
        ({"gating": True}, "head"),
        ({"gating": "per-head"}, "head"),
        ({"gating": "per-element"}, "full"),
        ({"gating": False}, "none"),
        ({"use_head_wise_attn_gate": True}, "head"),
    ],
)
def test_output_gates(keys: dict[str, object], gate: str) -> None:
    assert gqa(0, **keys).out_gate == gate


@pytest.mark.parametrize("value", ["per-moon", 3, ["per-head"]])
def test_an_unknown_gate_is_refused(value: object) -> None:
    with pytest.raises(UnknownKeyError, match="gating"):
        gqa(gating=value)


def windows(count: int, **keys: object) -> list[int | None]:
    return [gqa(index, **keys).window for index in range(count)]


def test_sliding_windows() -> None:
    # Mistral: everywhere. Qwen2: off unless asked for, then from `max_window_layers` on.
    assert windows(2, sliding_window=4096) == [4096, 4096]
    assert windows(2, sliding_window=4096, use_sliding_window=False) == [None, None]
    assert windows(3, sliding_window=4096, use_sliding_window=True, max_window_layers=2) == [None, None, 4096]
    # Gemma 2 alternates, Gemma 3 has one full layer in six.
    assert windows(4, model_type="gemma2", sliding_window=4096) == [4096, None, 4096, None]
    assert windows(7, sliding_window_pattern=6, sliding_window=512) == [512] * 5 + [None, 512]
    kinds = ["full_attention", "sliding_attention"]
    assert windows(2, sliding_window=128, layer_types=kinds) == [None, 128]
    assert windows(3, sliding_window=128, hybrid_layer_pattern=[0, 1, 0]) == [None, 128, None]


def test_an_unknown_layer_kind_is_refused() -> None:
    with pytest.raises(UnknownKeyError, match=r"layer_types: 'spiral_attention'") as caught:
        gqa(layer_types=["spiral_attention"])
    assert "sliding_attention" in caught.value.line


def test_a_sliding_layer_without_window_is_refused() -> None:
    with pytest.raises(UnreadableError, match="sliding_window"):
        gqa(layer_types=["sliding_attention"])


def test_chunked_layers_and_their_full_neighbours() -> None:
    # Llama 4: every fourth layer sees everything and rotates nothing.
    keys = {"attention_chunk_size": 8192, "interleave_moe_layer_step": 1, "model_type": "llama4_text"}
    assert [gqa(index, **keys).chunk for index in range(5)] == [8192, 8192, 8192, None, 8192]
    listed = {**keys, "no_rope_layers": [1, 0, 1]}
    assert [gqa(index, **listed).chunk for index in range(3)] == [8192, None, 8192]


def test_sliding_layers_of_another_shape() -> None:
    # MiMo V2: 8 instead of 4 KV heads, keys of 192 and values of 128; sinks on sliding layers only.
    keys = {
        "hybrid_layer_pattern": [0, 1],
        "sliding_window": 128,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 192,
        "v_head_dim": 128,
        "swa_num_key_value_heads": 8,
        "add_swa_attention_sink_bias": True,
        "add_full_attention_sink_bias": False,
    }
    full, sliding = gqa(0, **keys), gqa(1, **keys)
    assert (full.kv_heads, full.window, full.sinks) == (4, None, False)
    assert (sliding.kv_heads, sliding.window, sliding.sinks) == (8, 128, True)
    assert (sliding.head_dim, sliding.v_head_dim) == (192, 128)


def test_heads_listed_by_layer() -> None:
    keys = {"num_attention_heads_per_layer": [48, 72], "head_dim": 128}
    assert [gqa(index, **keys).heads for index in range(3)] == [48, 72, 32]


def test_sliding_layers_described_apart() -> None:
    other = {"num_attention_heads": 96, "num_attention_groups": 8, "head_dim": 128}
    keys = {
        "layer_types": ["full_attention", "sliding_attention"],
        "sliding_window": 512,
        "attention_other_setting": other,
    }
    assert [gqa(index, **keys).heads for index in range(2)] == [32, 96]


def test_gemma_4_full_layers() -> None:
    # Wider heads, fewer of them for keys, keys serve as values.
    keys = {
        "model_type": "gemma4_text",
        "layer_types": ["sliding_attention", "full_attention"],
        "sliding_window": 1024,
        "head_dim": 256,
        "global_head_dim": 512,
        "num_key_value_heads": 16,
        "num_global_key_value_heads": 4,
        "attention_k_eq_v": True,
    }
    sliding, full = gqa(0, **keys), gqa(1, **keys)
    assert (sliding.head_dim, sliding.kv_heads, sliding.shared_k) == (256, 16, False)
    assert (full.head_dim, full.kv_heads, full.shared_k) == (512, 4, True)


def test_layers_that_read_an_earlier_cache() -> None:
    kinds = ["sliding_attention", "full_attention"] * 3
    keys = {"layer_types": kinds, "sliding_window": 512, "num_hidden_layers": 6, "num_kv_shared_layers": 2}
    # Layers 4 and 5 own no cache: they read the last owner of their kind, 2 and 3.
    assert [gqa(index, **keys).kv_from_layer for index in range(6)] == [None, None, None, None, 2, 3]


def test_sharing_needs_an_owner() -> None:
    keys = {"num_hidden_layers": 2, "num_kv_shared_layers": 2}
    with pytest.raises(UnknownKeyError, match="num_kv_shared_layers"):
        gqa(0, **keys)


def test_a_block_selector_on_the_layers_listed() -> None:
    sparse = {
        "sparse_index_dim": 128,
        "sparse_num_index_heads": 4,
        "sparse_topk_blocks": 16,
        "sparse_attention_freq": [0, 1],
    }
    assert gqa(0, sparse_attention_config=sparse).indexer is None
    assert gqa(1, sparse_attention_config=sparse).indexer == Indexer(4, 128, 16)
    off = {**sparse, "use_sparse_attention": False}
    assert gqa(1, sparse_attention_config=off).indexer is None


def test_latent_attention() -> None:
    assert read_attention(Config(DEEPSEEK), 0) == Mla(128, 1536, 512, 128, 64, 128)
    assert mla(q_lora_rank=None).q_lora_rank is None
    assert mla(mla_use_output_gate=True).out_gate
    with pytest.raises(UnreadableError, match="qk_rope_head_dim"):
        mla(qk_rope_head_dim=None)


def test_a_token_selector_on_every_layer() -> None:
    mixer = mla(index_n_heads=64, index_head_dim=128, index_topk=2048)
    assert mixer.indexer == Indexer(64, 128, 2048)
    assert mixer.is_sparse


def test_selectors_shared_by_layers() -> None:
    keys = {"index_n_heads": 32, "index_head_dim": 128, "index_topk": 2048}
    listed = {**keys, "indexer_types": ["full", "shared", "full"]}
    assert [mla(index, **listed).indexer is not None for index in range(3)] == [True, False, True]
    assert mla(1, **listed).is_sparse
    with pytest.raises(UnknownKeyError, match="indexer_types"):
        mla(0, **{**keys, "indexer_types": ["half"]})


def test_selectors_by_frequency() -> None:
    # GLM-5.2: the first three layers select, afterwards each fourth: 3 + 75 // 4 = 21 of 78.
    keys = {"index_n_heads": 32, "index_head_dim": 128, "index_topk": 2048, "index_topk_freq": 4}
    owners = [index for index in range(78) if mla(index, **keys, index_skip_topk_offset=3).indexer]
    assert owners[:5] == [0, 1, 2, 6, 10]
    assert len(owners) == 21


def test_grouped_attention_is_the_default() -> None:
    assert isinstance(read_attention(Config(LLAMA), 0), Gqa)
    assert layer_kind(Config(LLAMA), 0) == "full_attention"
