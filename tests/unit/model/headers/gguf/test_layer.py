"""Blocks as layers: which mixers, and that no tensor gets lost or counted twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.gguf.block import Block
from tonnage.model.headers.gguf.facts import Facts
from tonnage.model.headers.gguf.layer import plain_tensor, read_layer
from tonnage.model.tensor import Tensor
from tonnage.model.tensors import layer_tensors

Build = Callable[..., Block]
HIDDEN = 32

FACTS = Facts(
    "m",
    {
        "m.attention.head_count": 8,
        "m.attention.head_count_kv": 2,
        "m.embedding_length": HIDDEN,
        "m.block_count": 4,
        "m.attention.kv_lora_rank": 16,
        "m.attention.indexer.head_count": 4,
        "m.attention.indexer.key_length": 8,
        "m.attention.indexer.top_k": 64,
        "m.attention.output_group_count": 2,
        "m.attention.compress_ratios": (4,),
        "m.attention.sliding_window": 128,
        "m.rope.dimension_count": 4,
        "m.kda.head_dim": 8,
        "m.ssm.inner_size": 64,
        "m.ssm.state_size": 16,
        "m.ssm.conv_kernel": 4,
        "m.ssm.time_step_rank": 4,
        "m.ssm.group_count": 2,
        "m.expert_used_count": 2,
    },
)
NORMS = {"attn_norm": (HIDDEN,), "ffn_norm": (HIDDEN,)}
DENSE = {"ffn_up": (48, HIDDEN), "ffn_gate": (48, HIDDEN), "ffn_down": (HIDDEN, 48)}
GQA = {"attn_q": (64, HIDDEN), "attn_k": (16, HIDDEN), "attn_v": (16, HIDDEN), "attn_output": (HIDDEN, 64)}
MLA = {
    "attn_q_a": (24, HIDDEN), "attn_q_a_norm": (24,), "attn_q_b": (96, 24), "attn_kv_a_mqa": (20, HIDDEN),
    "attn_kv_a_norm": (16,), "attn_output": (HIDDEN, 48),
}  # fmt: skip
KV_B = {"attn_kv_b": (8 * (8 + 6), 16)}
K_B_V_B = {"attn_k_b": (8, 16, 8), "attn_v_b": (8, 6, 16)}
# DeepSeek V3.2 selector: 4 heads of 8 from the low-rank query, one key of 8 with a LayerNorm
SELECTOR = {
    "indexer.attn_q_b": (32, 24), "indexer.attn_k": (8, HIDDEN), "indexer.proj": (4, HIDDEN),
    "indexer.k_norm": (8,), "indexer.k_norm.bias": (8,),
}  # fmt: skip
COMPRESSED = {
    "attn_q_a": (24, HIDDEN), "attn_q_a_norm": (24,), "attn_q_b": (8 * 16, 24), "attn_kv": (16, HIDDEN),
    "attn_kv_a_norm": (16,), "attn_output_a": (20, 64), "attn_output_b": (HIDDEN, 20), "attn_sinks": (8,),
    "attn_compressor_kv": (32, HIDDEN), "attn_compressor_gate": (32, HIDDEN), "attn_compressor_ape": (4, 32),
    "attn_compressor_norm": (16,), "indexer.proj": (4, HIDDEN), "indexer.attn_q_b": (32, 24),
    "indexer_compressor_kv": (16, HIDDEN), "indexer_compressor_gate": (16, HIDDEN),
    "indexer_compressor_ape": (4, 16), "indexer_compressor_norm": (8,),
    "hc_attn_fn": (24, 128), "hc_attn_base": (24,), "hc_attn_scale": (3,),
}  # fmt: skip
KDA = {
    "attn_q": (64, HIDDEN), "attn_k": (64, HIDDEN), "attn_v": (64, HIDDEN), "attn_output": (HIDDEN, 64),
    "ssm_conv1d_q": (1, 64, 1, 4), "ssm_conv1d_k": (1, 64, 1, 4), "ssm_conv1d_v": (1, 64, 1, 4),
    "ssm_f_a": (8, HIDDEN), "ssm_f_b": (64, 8), "ssm_beta": (8, HIDDEN), "ssm_a": (1, 8, 1), "ssm_dt.bias": (64,),
    "ssm_g_a": (8, HIDDEN), "ssm_g_b": (64, 8), "ssm_norm": (8,),
}  # fmt: skip
# 2 key heads and 4 value heads of 16: conv width 2 x 32 + 64
DELTANET = {
    "attn_qkv": (128, HIDDEN), "attn_gate": (64, HIDDEN), "ssm_conv1d": (128, 4), "ssm_dt.bias": (4,), "ssm_a": (4,),
    "ssm_beta": (4, HIDDEN), "ssm_alpha": (4, HIDDEN), "ssm_norm": (16,), "ssm_out": (HIDDEN, 64),
}  # fmt: skip
MERGED_DELTANET = {
    **{name: shape for name, shape in DELTANET.items() if name not in ("ssm_beta", "ssm_alpha")},
    "ssm_ba": (8, HIDDEN),
}
# 4 heads of 16, 2 groups: in 2 x 64 + 2 x 2 x 16 + 4
MAMBA2 = {
    "ssm_in": (196, HIDDEN), "ssm_conv1d": (128, 4), "ssm_conv1d.bias": (128,), "ssm_dt.bias": (4,), "ssm_a": (4, 1),
    "ssm_d": (4, 1), "ssm_norm": (2, 32), "ssm_out": (HIDDEN, 64),
}  # fmt: skip
MAMBA1 = {
    "ssm_in": (128, HIDDEN), "ssm_conv1d": (64, 4), "ssm_conv1d.bias": (64,), "ssm_x": (4 + 32, 64),
    "ssm_dt": (64, 4), "ssm_dt.bias": (64,), "ssm_a": (64, 16), "ssm_d": (64,), "ssm_out": (HIDDEN, 64),
    "ssm_dt_norm": (4,), "ssm_b_norm": (16,), "ssm_c_norm": (16,),
}  # fmt: skip
MOE = {
    "ffn_gate_inp": (8, HIDDEN), "ffn_up_exps": (8, 16, HIDDEN), "ffn_gate_exps": (8, 16, HIDDEN),
    "ffn_down_exps": (8, HIDDEN, 16), "exp_probs_b.bias": (8,), "ffn_down_shexp": (HIDDEN, 24),
    "ffn_up_shexp": (24, HIDDEN), "ffn_gate_shexp": (24, HIDDEN),
}  # fmt: skip
LATENT_MOE = {
    "ffn_gate_inp": (8, HIDDEN), "ffn_up_exps": (8, 16, 20), "ffn_down_exps": (8, 20, 16),
    "ffn_latent_down": (20, HIDDEN), "ffn_latent_up": (HIDDEN, 20), "ffn_norm_exps": (20,),
}  # fmt: skip
OLD_MOE = {
    "ffn_gate_inp": (2, HIDDEN),
    **{f"ffn_{part}.{n}": (HIDDEN, 16) if part == "down" else (16, HIDDEN)
       for n in range(2) for part in ("up", "gate", "down")},
}  # fmt: skip

CASES = {
    "grouped query": ("Gqa", {**NORMS, **GQA, **DENSE}),
    "fused": ("Gqa", {**NORMS, "attn_qkv": (48, HIDDEN), "attn_output": (HIDDEN, 32), **DENSE}),
    "biases and norms": ("Gqa", {
        **NORMS, **GQA, **DENSE, "attn_q.bias": (64,), "attn_k.bias": (16,), "attn_v.bias": (16,),
        "attn_output.bias": (HIDDEN,), "attn_q_norm": (8,), "attn_k_norm": (8,), "attn_sinks": (8,)}),
    "gate of a head": ("Gqa", {**NORMS, **GQA, "attn_gate": (8, HIDDEN), **DENSE}),
    "latent": ("Mla", {**NORMS, **MLA, **KV_B, **MOE}),
    "latent in two parts": ("Mla", {**NORMS, **MLA, **K_B_V_B, **MOE}),
    "latent stored twice": ("Mla", {**NORMS, **MLA, **KV_B, **K_B_V_B, **MOE}),
    "latent with selector": ("Mla", {**NORMS, **MLA, **KV_B, **SELECTOR, **DENSE}),
    "compressed": ("Compressed", {**NORMS, **COMPRESSED, **MOE, "ffn_gate_tid2eid": (100, 2)}),
    "Kimi delta": ("Kda", {**NORMS, **KDA, **MOE}),
    "delta net": ("DeltaNet", {**NORMS, **DELTANET, **MOE, "ffn_gate_inp_shexp": (HIDDEN,)}),
    "merged delta net": ("DeltaNet", {**NORMS, **MERGED_DELTANET, **DENSE}),
    "second Mamba": ("Mamba2", {"attn_norm": (HIDDEN,), **MAMBA2}),
    "first Mamba": ("Mamba1", {**NORMS, **MAMBA1, **DENSE}),
    "Mamba beside attention": ("Gqa+Mamba2", {**NORMS, **GQA, **MAMBA2, **DENSE}),
    "only experts": ("", {"attn_norm": (HIDDEN,), **LATENT_MOE}),
    "old experts": ("Gqa", {**NORMS, **GQA, **OLD_MOE}),
    "unknown extras": ("Gqa", {**NORMS, **GQA, **DENSE, "altup_router": (4, HIDDEN), "layer_output_scale": (1,)}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_mixers_are_recognised_and_every_element_counts_once(block: Build, case: str) -> None:
    kinds, shapes = CASES[case]
    given = block(shapes)
    layer = read_layer(FACTS, given)
    assert "+".join(type(mixer).__name__ for mixer in layer.mixers) == kinds
    counted = sum(tensor.params for tensor in layer_tensors(layer, HIDDEN))
    assert counted == sum(entry.elements for entry in given.tensors.values())


def test_norms_are_extras(block: Build) -> None:
    layer = read_layer(FACTS, block({**NORMS, **GQA, **DENSE}))
    assert [tensor.name for tensor in layer.extras] == ["attn_norm", "ffn_norm"]


def test_keys_that_a_layer_stores_and_does_not_use_are_extras(block: Build) -> None:
    facts = Facts("m", {**FACTS.metadata, "m.attention.shared_kv_layers": 1})
    layer = read_layer(facts, block({**NORMS, **GQA, **DENSE}, 3))
    assert [tensor.name for tensor in layer.extras] == ["attn_k", "attn_norm", "attn_v", "ffn_norm"]


@pytest.mark.parametrize(
    "shapes",
    [
        {"attn_norm": (HIDDEN,), "shortconv.in_proj": (96, HIDDEN), **DENSE},
        {"time_mix_key": (HIDDEN, HIDDEN)},
        {"attn_q_new": (HIDDEN, HIDDEN), **DENSE},
    ],
)
def test_unknown_mixers_are_refused(block: Build, shapes: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(UnknownKeyError, match="GGUF block 0: "):
        read_layer(FACTS, block(shapes))


def test_plain_tensors_keep_their_elements() -> None:
    assert plain_tensor("n", TensorEntry("n", "F32", (7,), 28)) == Tensor("n", 7, kind="plain")
    assert plain_tensor("m", TensorEntry("m", "F32", (2, 3, 4), 96)) == Tensor("m", 6, 4)
    assert plain_tensor("s", TensorEntry("s", "F32", (), 4)).params == 1
    assert plain_tensor("e", TensorEntry("e", "F32", (3, 0), 0)).params == 0
