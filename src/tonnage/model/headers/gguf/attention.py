"""Attention of one block of a GGUF model: sizes from its tensors, the rest from the metadata."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.headers.gguf.window import SIZE_KEY, is_chunked, read_window
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.model.headers.gguf.block import Block
    from tonnage.model.headers.gguf.facts import Facts

HEADS = "attention.head_count"
KV_HEADS = "attention.head_count_kv"
SHARED_LAYERS = "attention.shared_kv_layers"
INDEXER = "indexer."


def read_gqa(facts: Facts, block: Block) -> Gqa:
    """Grouped-query attention of `block`, fused (`attn_qkv`) or in three matrices."""
    layer = block.number
    heads = facts.number(HEADS, layer)
    kv_heads = facts.find(KV_HEADS, layer) or heads
    window, source = read_window(facts, layer), _kv_source(facts, layer)
    head_dim = _width(facts, block, "key", heads, kv_heads)
    v_head_dim = _width(facts, block, "value", heads, kv_heads)
    return Gqa(
        heads,
        kv_heads,
        head_dim,
        v_head_dim,
        window=None if is_chunked(facts) else window,
        chunk=window if is_chunked(facts) else None,
        qkv_bias=block.has("attn_q.bias", "attn_qkv.bias"),
        out_bias=block.has("attn_output.bias"),
        qk_norm=_qk_norm(block, head_dim),
        out_gate=_out_gate(block, heads, head_dim),
        shared_k=block.has("attn_k") and not block.has("attn_v"),
        kv_from_layer=source,
        sinks=block.has("attn_sinks"),
        indexer=read_indexer(facts, block),
    )


def read_mla(facts: Facts, block: Block) -> Mla:
    """Latent attention of `block`, whether its key and value projections are stored together or apart."""
    heads = facts.number(HEADS, block.number)
    rank = facts.number("attention.kv_lora_rank")
    rope = block.rows("attn_kv_a_mqa") - rank
    has_low_rank = block.has("attn_q_a")
    query = "attn_q_b" if has_low_rank else "attn_q"
    indexer = read_indexer(facts, block)
    return Mla(
        heads=heads,
        q_lora_rank=block.rows("attn_q_a") if has_low_rank else None,
        kv_lora_rank=rank,
        nope_dim=_share(block.rows(query), heads, f"{query} of block {block.number}") - rope,
        rope_dim=rope,
        v_dim=_share(block.cols("attn_output"), heads, f"attn_output of block {block.number}"),
        indexer=indexer,
        is_sparse=facts.find("attention.indexer.top_k") is not None,
        out_gate=block.has("attn_gate"),
    )


def read_compressed(facts: Facts, block: Block) -> Compressed:
    """Compressed attention of `block` (DeepSeek V4)."""
    groups = facts.number("attention.output_group_count")
    return Compressed(
        heads=facts.number(HEADS, block.number),
        head_dim=block.rows("attn_kv"),
        rope_dim=facts.number("rope.dimension_count"),
        q_lora_rank=block.rows("attn_q_a"),
        o_lora_rank=block.rows("attn_output_a") // groups,
        o_groups=groups,
        ratio=facts.find("attention.compress_ratios", block.number) or 0,
        window=facts.number(SIZE_KEY, block.number),
        indexer=read_indexer(facts, block),
    )


def read_indexer(facts: Facts, block: Block) -> Indexer | None:
    """The selector of sparse attention, if `block` owns one."""
    if not any(name.startswith(INDEXER) for name in block.tensors):
        return None
    key = "attention.indexer."
    return Indexer(facts.number(f"{key}head_count"), facts.number(f"{key}key_length"), facts.number(f"{key}top_k"))


def _width(facts: Facts, block: Block, part: Literal["key", "value"], heads: int, kv_heads: int) -> int:
    """Width of one key or value head: the matrix says it, else the metadata, else an even share of the model's."""
    matrix = "attn_v" if part == "value" and block.has("attn_v") else "attn_k"
    if block.has(matrix):
        return _share(block.rows(matrix), kv_heads, f"{matrix} of block {block.number}")
    is_windowed = read_window(facts, block.number) is not None
    stated = facts.find(f"attention.{part}_length_swa") if is_windowed else None
    return stated or facts.find(f"attention.{part}_length") or facts.number("embedding_length") // heads


def _share(rows: int, heads: int, matrix: str) -> int:
    """Rows of one head; `UnreadableError` where the metadata counts heads that the matrix cannot hold."""
    if rows < heads:
        raise UnreadableError(f"GGUF tensor {matrix}", f"{rows} rows for {heads} heads", "a row or more for each head")
    return rows // heads


def _qk_norm(block: Block, head_dim: int) -> Literal["none", "head", "full"]:
    norm = block.tensors.get("attn_q_norm")
    if norm is None:
        return "none"
    return "head" if norm.elements == head_dim else "full"


def _out_gate(block: Block, heads: int, head_dim: int) -> Literal["none", "head", "full"]:
    if block.has("attn_gate"):
        return "head" if block.rows("attn_gate") == heads else "full"
    is_doubled = block.has("attn_q") and block.rows("attn_q") == 2 * heads * head_dim
    return "full" if is_doubled else "none"


def _kv_source(facts: Facts, layer: int) -> int | None:
    """The last layer of the same kind that owns a cache, for the last layers where they own none."""
    shared = facts.find(SHARED_LAYERS) or 0
    first_shared = facts.number("block_count") - shared
    if not shared or layer < first_shared:
        return None
    window = read_window(facts, layer)
    owners = (owner for owner in range(first_shared - 1, -1, -1) if read_window(facts, owner) == window)
    return next(owners, None)
