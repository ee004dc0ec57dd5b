"""Tensors of grouped-query attention."""

from __future__ import annotations

from tonnage.model.mixer.gqa import Gqa, gqa_tensors
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.tensor import Tensor

HIDDEN = 4096
LLAMA = Gqa(heads=32, kv_heads=8, head_dim=128, v_head_dim=128)


def by_name(mixer: Gqa, hidden: int = HIDDEN) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in gqa_tensors(mixer, hidden)}


def total(mixer: Gqa, hidden: int = HIDDEN) -> int:
    return sum(tensor.params for tensor in gqa_tensors(mixer, hidden))


def test_shapes_and_splits() -> None:
    tensors = by_name(LLAMA)
    assert tensors["self_attn.q_proj"] == Tensor("self_attn.q_proj", 4096, 4096, "rows", units=32, fused="qkv_proj")
    assert tensors["self_attn.k_proj"] == Tensor("self_attn.k_proj", 1024, 4096, "kv", units=8, fused="qkv_proj")
    assert tensors["self_attn.v_proj"].split == "kv"
    assert tensors["self_attn.o_proj"] == Tensor("self_attn.o_proj", 4096, 4096, "cols", units=32)
    # h n d + 2 h k d + n d h = 4096 x 4096 + 2 x 4096 x 1024 + 4096 x 4096
    assert total(LLAMA) == 41_943_040


def test_biases() -> None:
    biased = Gqa(32, 8, 128, 128, qkv_bias=True)
    # (n + 2k) d = 48 x 128
    assert total(biased) - total(LLAMA) == 6144
    both = by_name(Gqa(32, 8, 128, 128, qkv_bias=True, out_bias=True))
    assert both["self_attn.o_proj.bias"].split == "none"
    assert both["self_attn.k_proj.bias"].split == "kv"
    assert both["self_attn.q_proj.bias"].units == 32


def test_norms() -> None:
    head = by_name(Gqa(32, 8, 128, 128, qk_norm="head"))
    assert (head["self_attn.q_norm"].params, head["self_attn.q_norm"].split) == (128, "none")
    full = by_name(Gqa(32, 8, 128, 128, qk_norm="full"))
    # Over the whole projection: 32 x 128 and 8 x 128.
    assert (full["self_attn.q_norm"].params, full["self_attn.q_norm"].split) == (4096, "rows")
    assert (full["self_attn.k_norm"].params, full["self_attn.k_norm"].split) == (1024, "kv")


def test_output_gates() -> None:
    full = by_name(Gqa(32, 8, 128, 128, out_gate="full"))
    assert full["self_attn.q_proj"].rows == 2 * 4096
    head = by_name(Gqa(32, 8, 128, 128, out_gate="head"))
    assert head["self_attn.g_proj"].params == 32 * 4096


def test_values_narrower_than_keys() -> None:
    tensors = by_name(Gqa(heads=64, kv_heads=8, head_dim=192, v_head_dim=128, sinks=True))
    assert tensors["self_attn.k_proj"].rows == 8 * 192
    assert tensors["self_attn.v_proj"].rows == 8 * 128
    assert tensors["self_attn.o_proj"].cols == 64 * 128
    assert tensors["self_attn.sinks"].params == 64


def test_keys_that_serve_as_values() -> None:
    assert "self_attn.v_proj" not in by_name(Gqa(16, 2, 512, 512, shared_k=True))


def test_layers_that_own_no_cache_have_queries_only() -> None:
    borrowed = by_name(Gqa(8, 1, 256, 256, kv_from_layer=3, qk_norm="head", qkv_bias=True))
    assert set(borrowed) == {"self_attn.q_proj", "self_attn.q_proj.bias", "self_attn.q_norm", "self_attn.o_proj"}


def test_selector_and_block_name() -> None:
    mixer = Gqa(64, 4, 128, 128, indexer=Indexer(4, 128, 16), name="mixer")
    tensors = by_name(mixer, 6144)
    # Queries 4 x 128 x 6144, one key 128 x 6144, two norms of 128.
    selector = sum(tensor.params for name, tensor in tensors.items() if "index" in name)
    assert selector == 4 * 128 * 6144 + 128 * 6144 + 256
    assert all(name.startswith("mixer.") for name in tensors)
