"""Tensors of one block."""

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.gguf.block import Block, split_blocks


def entry(name: str, *shape: int) -> TensorEntry:
    return TensorEntry(name, "F32", shape, 0)


def test_tensors_are_sorted_into_blocks() -> None:
    entries = [entry("blk.1.attn_q.weight", 8, 4), entry("blk.0.attn_q.bias", 8), entry("token_embd.weight", 9, 4)]
    blocks, outside = split_blocks(entries)
    assert blocks == (Block(0, {"attn_q.bias": entries[1]}), Block(1, {"attn_q": entries[0]}))
    assert outside == {"token_embd.weight": entries[2]}


def test_names_that_only_look_like_blocks_stand_outside() -> None:
    names = ["blk.x.attn_q.weight", "blk.", "v.blk.0.attn_q.weight", "blk.123456789.a", "blk.٣.a"]
    assert split_blocks([entry(name, 1) for name in names])[1].keys() == set(names)


def test_a_missing_block_is_named() -> None:
    with pytest.raises(UnreadableError, match="block 1 missing"):
        split_blocks([entry("blk.0.a", 1), entry("blk.2.a", 1)])


def test_rows_columns_and_copies() -> None:
    block = Block(3, {"m": entry("m", 8, 4), "e": entry("e", 2, 8, 4), "v": entry("v", 8), "z": entry("z", 0, 4)})
    assert (block.rows("m"), block.cols("m"), block.copies("m")) == (8, 4, 1)
    assert (block.rows("e"), block.cols("e"), block.copies("e")) == (8, 4, 2)
    assert block.has("x", "m")
    assert not block.has("x")
    for name, message in (("x", "absent"), ("v", "shape"), ("z", "shape")):
        with pytest.raises(UnreadableError, match=rf"blk\.3\.{name}.*{message}"):
            block.rows(name)
