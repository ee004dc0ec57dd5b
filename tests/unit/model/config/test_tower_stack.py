"""Builders of an encoder's tensors."""

from __future__ import annotations

from tonnage.layout.shard import Shard, cut
from tonnage.model.config.tower_stack import Stack

STACK = Stack("tower.blocks.0.", copies=3)


def test_copies_count() -> None:
    weight, bias = STACK.column("mlp.fc1", 16, 8)
    assert (weight.name, weight.params, bias.params) == ("tower.blocks.0.mlp.fc1", 3 * 16 * 8, 3 * 16)
    assert cut(weight, 4) == Shard(4, 8, 3)
    assert cut(bias, 4) == Shard(4, 1, 3)


def test_rows_keep_their_bias_whole() -> None:
    weight, bias = STACK.row("mlp.fc2", 8, 16)
    assert (cut(weight, 4), cut(bias, 4)) == (Shard(8, 4, 3), Shard(8, 1, 3))
    assert len(STACK.row("mlp.fc2", 8, 16, has_bias=False)) == 1


def test_attention_in_one_matrix_or_three() -> None:
    joined, apart = STACK.qkv("attn.qkv", 8, 8, 4), STACK.apart("attn", 8, 4)
    assert sum(t.params for t in joined) == sum(t.params for t in apart) == 3 * (24 * 8 + 24)
    assert [t.name for t in apart if not t.name.endswith("bias")] == [
        f"tower.blocks.0.attn.{part}_proj" for part in "qkv"
    ]
    assert cut(joined[0], 4) == Shard(6, 8, 3)


def test_what_stands_on_every_rank() -> None:
    tensors = (
        *STACK.whole("proj", 8, 4),
        *STACK.norm("norm", 8),
        *STACK.table("pos_embed", 5, 8),
        *STACK.patches("patch", 8, 12),
    )
    assert {t.split for t in tensors} == {"none"}
    assert [t.params // 3 for t in tensors] == [32, 8, 8, 8, 40, 96, 8]
    assert [t.kind for t in tensors] == ["linear", *["plain"] * 6]
    assert len(STACK.norm("norm", 8, has_bias=False)) == len(STACK.patches("patch", 8, 12, has_bias=False)) == 1


def test_a_tower_falls_back_to_whole_tensors() -> None:
    stack = Stack("tower.", 1, fallback_heads=6)
    weight, bias = stack.column("fc", 24, 8)
    assert (cut(weight, 4), cut(bias, 4)) == (Shard(24, 8, 1), Shard(24, 1, 1))
    assert (cut(weight, 3), cut(bias, 3)) == (Shard(8, 8, 1), Shard(8, 1, 1))
