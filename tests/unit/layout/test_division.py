"""How tensors are divided for one rank."""

from __future__ import annotations

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.division import Division
from tonnage.layout.layout import Layout
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.layout.widths import plain_widths
from tonnage.model.tensor import Tensor, vector

QUERY = Piece(Tensor("self_attn.q_proj", 128, 64, "rows", units=8), None, "attention")
EXPERT = Piece(Tensor("mlp.experts.up_proj", 32, 64, "rows", copies=8, is_expert=True), None, "experts")
NORM = Piece(vector("input_layernorm", 64), None, "plain")


def division(layout: Layout, ep_rank: int = 0) -> Division:
    """The division of a layout for one rank."""
    return Division(plain_widths(layout), layout.redundant_experts, ep_rank)


def test_each_group_has_its_width() -> None:
    found = division(Layout(tp=2, dp=2))
    assert found.shard(QUERY) == Shard(64, 64, 1)
    assert found.shard(EXPERT) == Shard(8, 64, 8)  # 32 over 2 x 2
    assert found.shard(NORM) == Shard(64, 1, 1)


@pytest.mark.parametrize(("ep_rank", "held"), [(0, 3), (1, 3), (2, 2)])
def test_whole_experts_go_to_ranks(ep_rank: int, held: int) -> None:
    # 8 over 3.
    assert division(Layout(dp=3, ep=True), ep_rank).shard(EXPERT) == Shard(32, 64, held)


def test_copies_for_balance_are_experts_too() -> None:
    # 8 and 4 over 4.
    layout = Layout(dp=4, ep=True, redundant_experts=4)
    assert division(layout).shard(EXPERT) == Shard(32, 64, 3)


def test_a_single_rank_makes_no_copies() -> None:
    assert division(Layout(ep=True, redundant_experts=4)).shard(EXPERT) == Shard(32, 64, 8)


def test_what_does_not_divide_is_refused() -> None:
    with pytest.raises(LayoutError, match="8 pieces over 3 ranks"):
        division(Layout(tp=3)).shard(QUERY)
