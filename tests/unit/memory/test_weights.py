"""Weight bytes of one rank."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.layout import Layout
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import Weighed, draft_bytes, held_pieces, plain_bytes, weigh
from tonnage.model.arch import Arch, Layer, Tower
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.tensor import Tensor

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]


def half(piece: Piece, shard: Shard) -> int:  # noqa: ARG001
    """Two bytes an element, no padding."""
    return 2 * shard.params


def test_one_rank_holds_everything(make_arch: MakeArch, make_view: MakeView) -> None:
    # Four layers x 2 B; the vocabulary of 1,000 is padded to 1,024 rows of 64.
    weighed = weigh(make_view(make_arch()), half)
    assert weighed.by_group == {
        "attention": 4 * 49_152, "dense": 4 * 49_152, "plain": 4 * 256 + 128, "embedding": 131_072, "head": 131_072,
    }  # fmt: skip
    assert weighed.total == 656_512


def test_two_ranks_share_all_but_the_norms(make_arch: MakeArch, make_view: MakeView) -> None:
    weighed = weigh(make_view(make_arch(), Layout(tp=2)), half)
    assert weighed.by_group["attention"] == 4 * 24_576
    assert weighed.by_group["plain"] == 4 * 256 + 128
    assert weighed.total == (656_512 - 1_152) // 2 + 1_152


def test_key_heads_are_copied_past_their_number(make_arch: MakeArch, make_view: MakeView) -> None:
    # 8 ranks, 4 KV heads: q 16 x 64, k and v 16 x 64 each, o 64 x 16.
    weighed = weigh(make_view(make_arch(), Layout(tp=8)), half)
    assert weighed.by_group["attention"] == 4 * 2 * (1024 + 1024 + 1024 + 1024)


def test_layers_of_a_stage(make_arch: MakeArch, make_view: MakeView, dense_layer: Layer, mixture_layer: Layer) -> None:
    arch = make_arch(dense_layer, mixture_layer, mixture_layer)
    first = weigh(make_view(arch, Layout(pp=2), layers=range(2)), half)
    last = weigh(make_view(arch, Layout(pp=2), layers=range(2, 3)), half)
    # One dense and one mixture against one mixture: 8 experts x 6,144 elements.
    assert (first.by_group["experts"], last.by_group["experts"]) == (98_304, 98_304)
    # The router counts with the dense parts, uncut: 512 elements.
    assert (first.by_group["dense"], last.by_group["dense"]) == (49_152 + 1_024, 1_024)
    assert "head" not in first.by_group
    assert "embedding" not in last.by_group


def test_a_tied_table_stands_on_both_ends_of_a_pipeline(make_arch: MakeArch, make_view: MakeView) -> None:
    arch = make_arch(tied=True)
    stages = [weigh(make_view(arch, Layout(pp=2), layers=layers), half) for layers in (range(2), range(2, 4))]
    assert [stage.by_group["embedding"] for stage in stages] == [131_072, 131_072]
    # On one stage it stands once.
    assert weigh(make_view(arch), half).by_group["embedding"] == 131_072
    # In the middle not at all.
    middle = make_view(make_arch(tied=True), Layout(pp=4), layers=range(1, 2))
    assert "embedding" not in weigh(middle, half).by_group


def test_a_class_that_creates_tables_everywhere(make_arch: MakeArch, make_view: MakeView) -> None:
    middle = make_view(make_arch(), Layout(pp=4), layers=range(1, 2), has_embedding=True, has_head=True)
    weighed = weigh(middle, half)
    assert (weighed.by_group["embedding"], weighed.by_group["head"]) == (131_072, 131_072)
    # The final norm comes with the head: two norms of the layer and one more.
    assert weighed.by_group["plain"] == 256 + 128


def test_towers_stand_on_every_stage(make_arch: MakeArch, make_view: MakeView) -> None:
    tower = Tower("vision", 1, 32, (Tensor("visual.proj", 96, 32, "rows", units=4),))
    arch = make_arch(towers=(tower,))
    for layers in (range(1), range(1, 4)):
        weighed = weigh(make_view(arch, Layout(tp=2, pp=2), layers=layers), half)
        assert weighed.by_group["tower"] == 2 * 48 * 32


@pytest.mark.parametrize(
    ("layout", "ep_rank", "shard"),
    [
        (Layout(), 0, Shard(32, 64, 8)),
        (Layout(tp=4), 0, Shard(8, 64, 8)),
        # The experts' group is flattened over tensor and data parallel ranks.
        (Layout(tp=2, dp=4), 0, Shard(4, 64, 8)),
        (Layout(tp=2, dp=2, ep=True), 3, Shard(32, 64, 2)),
        # 8 experts over 3 ranks: 3, 3 and 2.
        (Layout(dp=3, ep=True), 1, Shard(32, 64, 3)),
        (Layout(dp=3, ep=True), 2, Shard(32, 64, 2)),
        # 8 and 4 redundant ones over 4 ranks.
        (Layout(dp=4, ep=True, redundant_experts=4), 0, Shard(32, 64, 3)),
    ],
)
def test_experts_of_a_rank(
    make_arch: MakeArch, make_view: MakeView, mixture_layer: Layer, layout: Layout, ep_rank: int, shard: Shard
) -> None:
    view = make_view(make_arch(mixture_layer), layout, ep_rank=ep_rank)
    up = next(p for p in view.parts.classes[0] if p.tensor.name == "mlp.experts.up_proj")
    assert view.division.shard(up) == shard


def test_uneven_widths_are_refused(make_arch: MakeArch, make_view: MakeView) -> None:
    narrow = Layer((Gqa(6, 2, 16, 16),), (Dense(100),))
    with pytest.raises(LayoutError) as refusal:
        weigh(make_view(make_arch(narrow), Layout(tp=8)), half)
    assert refusal.value.line == "self_attn.q_proj: 6 pieces over 8 ranks: a width that divides 6"


def test_the_total_is_the_sum_of_the_groups() -> None:
    assert Weighed({"attention": 5, "experts": 7}).total == 12
    assert Weighed({}).total == 0


def test_drafts_stand_on_the_last_stage(make_arch: MakeArch, make_view: MakeView, dense_layer: Layer) -> None:
    # 49,280 elements of 2 B.
    arch = make_arch(draft=(dense_layer,))
    assert draft_bytes(make_view(arch), half) == 98_560
    assert draft_bytes(make_view(arch, Layout(pp=2), layers=range(2)), half) == 0
    assert draft_bytes(make_view(make_arch()), half) == 0
    # They are no part of the model itself.
    assert weigh(make_view(arch), half).total == 656_512


def test_what_stands_on_a_stage(make_arch: MakeArch, make_view: MakeView) -> None:
    held = [count for pieces, count in held_pieces(make_view(make_arch())) if list(pieces)]
    # Four equal layers, then embedding, and norm with head.
    assert held == [4, 1, 1]
    middle = make_view(make_arch(), Layout(pp=4), layers=range(1, 2))
    assert [count for pieces, count in held_pieces(middle) if list(pieces)] == [1]


def test_a_model_before_it_is_quantised(make_arch: MakeArch, make_view: MakeView) -> None:
    # What `half` weighs, at one byte in place of two.
    view = make_view(make_arch())
    assert plain_bytes(view, 1) * 2 == plain_bytes(view, 2) == 656_512
