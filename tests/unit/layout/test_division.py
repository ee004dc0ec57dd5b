"""The parts of many tensors on one rank."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.division import Division
from tonnage.layout.parts import Piece, Pieces, gather_parts
from tonnage.layout.shard import Shard
from tonnage.layout.widths import Widths
from tonnage.model.arch import Arch, Layer
from tonnage.model.tensor import Tensor

MakeArch = Callable[..., Arch]

TP2 = Widths(2, 2, 2, 2, 2, 2, 2, 1)
EP3 = Widths(1, 1, 1, 1, 1, 1, 1, 3)
EXPERTS = Piece(Tensor("mlp.experts.up_proj", 32, 64, "rows", copies=8, is_expert=True), None, "experts")


def test_a_cut_tensor() -> None:
    piece = Piece(Tensor("mlp.up_proj", 128, 64, "rows"), None, "dense")
    assert Division(TP2, 0, 0).shard(piece) == Shard(64, 64, 1)
    assert Division(EP3, 0, 0).shard(piece) == Shard(128, 64, 1)


@pytest.mark.parametrize(("rank", "held"), [(0, 3), (1, 3), (2, 2)])
def test_whole_experts(rank: int, held: int) -> None:
    # Eight experts over three ranks: 3, 3 and 2.
    assert Division(EP3, 0, rank).shard(EXPERTS) == Shard(32, 64, held)


def test_copies_of_experts() -> None:
    # One more makes nine, three on each rank; slices of experts are not copied.
    assert Division(EP3, 1, 2).shard(EXPERTS) == Shard(32, 64, 3)
    assert Division(TP2, 1, 0).shard(EXPERTS) == Shard(16, 64, 8)


def test_all_pieces_in_order(make_arch: MakeArch, mixture_layer: Layer) -> None:
    pieces = gather_parts(make_arch(mixture_layer)).classes[0]
    division = Division(TP2, 0, 0)
    assert division.shards(pieces) == tuple(division.shard(piece) for piece in pieces)
    assert division.shards(pieces) is Division(TP2, 0, 0).shards(pieces)
    assert division.shards(Pieces(pieces)) is not division.shards(pieces)


def test_what_does_not_divide() -> None:
    piece = Piece(Tensor("self_attn.q_proj", 96, 64, "rows", units=3), None, "attention")
    with pytest.raises(LayoutError, match="3 pieces over 2 ranks"):
        Division(TP2, 0, 0).shards(Pieces([piece]))
