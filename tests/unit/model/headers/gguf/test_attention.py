"""Attention of one block."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.gguf.attention import read_compressed, read_gqa, read_mla
from tonnage.model.headers.gguf.block import Block
from tonnage.model.headers.gguf.facts import Facts
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla

Build = Callable[..., Block]
GQA = {"attn_q": (64, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 64)}


def facts(**keys: object) -> Facts:
    """8 query heads, 2 KV heads, width 32, 4 blocks."""
    base = {"attention.head_count": 8, "attention.head_count_kv": 2, "embedding_length": 32, "block_count": 4}
    named = {key.replace("__", "."): value for key, value in keys.items()}
    return Facts("m", {f"m.{key}": value for key, value in {**base, **named}.items()})


def test_three_matrices(block: Build) -> None:
    assert read_gqa(facts(), block(GQA)) == Gqa(8, 2, 8, 8)


def test_keys_and_values_of_different_width(block: Build) -> None:
    shapes = {"attn_q": (96, 32), "attn_k": (24, 32), "attn_v": (16, 32), "attn_output": (32, 64)}
    assert read_gqa(facts(), block(shapes)) == Gqa(8, 2, 12, 8)


def test_a_fused_matrix_needs_the_metadata(block: Build) -> None:
    shapes = {"attn_qkv": (80, 32), "attn_output": (32, 32)}
    assert read_gqa(facts(), block(shapes)) == Gqa(8, 2, 4, 4)  # 32 / 8 heads
    given = facts(attention__key_length=16, attention__value_length=8)
    assert read_gqa(given, block(shapes)) == Gqa(8, 2, 16, 8)


def test_heads_by_layer(block: Build) -> None:
    given = facts(attention__head_count=(8, 4), attention__head_count_kv=(2, 1))
    shapes = {"attn_q": (32, 32), "attn_k": (8, 32), "attn_v": (8, 32), "attn_output": (32, 32)}
    assert read_gqa(given, block(shapes, 1)) == Gqa(4, 1, 8, 8)


def test_biases_norms_gates_and_sinks(block: Build) -> None:
    shapes = {**GQA, "attn_q.bias": (64,), "attn_output.bias": (32,), "attn_q_norm": (8,), "attn_sinks": (8,)}
    assert read_gqa(facts(), block(shapes)) == Gqa(8, 2, 8, 8, qkv_bias=True, out_bias=True, qk_norm="head", sinks=True)
    assert read_gqa(facts(), block({**GQA, "attn_q_norm": (64,)})).qk_norm == "full"
    assert read_gqa(facts(), block({**GQA, "attn_q": (128, 32)})).out_gate == "full"  # Qwen3.5
    assert read_gqa(facts(), block({**GQA, "attn_gate": (64, 32)})).out_gate == "full"
    assert read_gqa(facts(), block({**GQA, "attn_gate": (8, 32)})).out_gate == "head"


def test_windows_chunks_and_their_own_widths(block: Build) -> None:
    windowed = facts(attention__sliding_window=128, attention__sliding_window_pattern=(True, False))
    assert read_gqa(windowed, block(GQA, 0)).window == 128
    assert read_gqa(windowed, block(GQA, 1)).window is None
    fused = {"attn_qkv": (80, 32), "attn_output": (32, 32)}
    both = Facts("m", {**windowed.metadata, "m.attention.key_length": 16, "m.attention.key_length_swa": 8})
    assert (read_gqa(both, block(fused, 0)).head_dim, read_gqa(both, block(fused, 1)).head_dim) == (8, 16)
    llama4 = Facts("llama4", {"llama4.attention.head_count": 8, "llama4.attention.head_count_kv": 2})
    metadata = {**llama4.metadata, "llama4.block_count": 4}
    mixer = read_gqa(Facts("llama4", metadata), block(GQA))
    assert (mixer.window, mixer.chunk) == (None, 8192)


def test_keys_that_serve_as_values(block: Build) -> None:
    shapes = {"attn_q": (64, 32), "attn_k": (16, 32), "attn_output": (32, 64)}
    assert read_gqa(facts(), block(shapes)) == Gqa(8, 2, 8, 8, shared_k=True)


def test_the_last_layers_may_use_the_cache_of_others(block: Build) -> None:
    pattern = (True, False, True, False)
    given = facts(attention__shared_kv_layers=2, attention__sliding_window=9, attention__sliding_window_pattern=pattern)
    assert [read_gqa(given, block(GQA, layer)).kv_from_layer for layer in range(4)] == [None, None, 0, 1]


MLA = {
    "attn_q_a": (24, 32),
    "attn_q_a_norm": (24,),
    "attn_q_b": (8 * 12, 24),  # 8 heads of 8 + 4
    "attn_kv_a_mqa": (20, 32),  # rank 16 + rope 4
    "attn_kv_a_norm": (16,),
    "attn_output": (32, 8 * 6),
}


def test_latent_attention(block: Build) -> None:
    given = facts(attention__kv_lora_rank=16)
    assert read_mla(given, block(MLA)) == Mla(8, 24, 16, 8, 4, 6)
    no_rank = {"attn_q": (8 * 12, 32), "attn_kv_a_mqa": (20, 32), "attn_output": (32, 48), "attn_gate": (48, 32)}
    assert read_mla(given, block(no_rank)) == Mla(8, None, 16, 8, 4, 6, out_gate=True)


def test_latent_attention_with_and_without_a_selector_of_its_own(block: Build) -> None:
    given = facts(
        attention__kv_lora_rank=16,
        attention__indexer__head_count=4,
        attention__indexer__key_length=8,
        attention__indexer__top_k=2048,
    )
    owner = read_mla(given, block({**MLA, "indexer.proj": (4, 32)}))
    assert (owner.indexer, owner.is_sparse) == (Indexer(4, 8, 2048), True)
    other = read_mla(given, block(MLA))
    assert (other.indexer, other.is_sparse) == (None, True)


def test_compressed_attention(block: Build) -> None:
    given = facts(
        attention__output_group_count=2,
        attention__compress_ratios=(0, 4),
        attention__sliding_window=128,
        rope__dimension_count=4,
    )
    shapes = {"attn_q_a": (24, 32), "attn_q_b": (128, 24), "attn_kv": (16, 32), "attn_output_a": (20, 64)}
    assert read_compressed(given, block(shapes, 1)) == Compressed(8, 16, 4, 24, 10, 2, 4, 128)
    assert read_compressed(given, block(shapes, 0)).ratio == 0


def test_missing_facts_and_tensors_are_named(block: Build) -> None:
    with pytest.raises(UnreadableError, match=r"m\.attention\.kv_lora_rank"):
        read_mla(facts(), block(MLA))
    partial = {name: shape for name, shape in MLA.items() if name != "attn_output"}
    with pytest.raises(UnreadableError, match=r"blk\.0\.attn_output.*absent"):
        read_mla(facts(attention__kv_lora_rank=16), block(partial))
    with pytest.raises(UnreadableError, match=r"m\.attention\.head_count"):
        read_gqa(facts(attention__head_count=0), block(GQA))


@pytest.mark.parametrize("read", [read_gqa, read_mla])
def test_more_heads_than_the_matrices_hold(block: Build, read: Callable[[Facts, Block], object]) -> None:
    shapes = {**GQA, "attn_q_b": (64, 32), "attn_q_a": (32, 32), "attn_kv_a_mqa": (24, 32)}
    heads = {"attention.head_count": 65, "attention.head_count_kv": 17, "attention.kv_lora_rank": 16}
    with pytest.raises(UnreadableError, match=r"(16 rows for 17|64 rows for 65) heads"):
        read(Facts("m", {f"m.{key}": value for key, value in heads.items()} | {"m.block_count": 1}), block(shapes))
