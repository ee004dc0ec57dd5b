"""One rank as the formulas see it."""

from __future__ import annotations

from collections.abc import Callable

from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView, count_equal
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.gqa import Gqa

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]


def test_mixers_of_its_own_layers_in_order(make_arch: MakeArch, make_view: MakeView) -> None:
    sliding, full = Gqa(8, 4, 16, 16, window=512), Gqa(8, 4, 16, 16)
    layers = [Layer((mixer,), (Dense(128),)) for mixer in (sliding, sliding, full, sliding)]
    arch = make_arch(*layers)
    assert make_view(arch).mixers == (sliding, sliding, full, sliding)
    assert make_view(arch, Layout(pp=2), layers=range(2, 4)).mixers == (full, sliding)


def test_layers_with_two_mixers_or_none(make_arch: MakeArch, make_view: MakeView) -> None:
    # LongCat has two in one layer; Nemotron-H has layers that are only feed-forward.
    mixer = Gqa(8, 4, 16, 16)
    arch = make_arch(Layer((mixer, mixer), (Dense(128), Dense(128))), Layer((), (Dense(128),)))
    assert make_view(arch).mixers == (mixer, mixer)


def test_equal_mixers_are_counted_once(make_arch: MakeArch, make_view: MakeView) -> None:
    sliding, full = Gqa(8, 4, 16, 16, window=512), Gqa(8, 4, 16, 16)
    layers = [Layer((mixer,), (Dense(128),)) for mixer in (sliding, full, sliding, sliding)]
    assert make_view(make_arch(*layers)).mixer_counts == ((sliding, 3), (full, 1))
    assert make_view(make_arch(*layers), Layout(pp=2), layers=range(2)).mixer_counts == ((sliding, 1), (full, 1))


def test_equal_mixers_may_be_different_objects() -> None:
    one, other = Gqa(8, 4, 16, 16), Gqa(8, 4, 16, 16)
    assert one is not other
    assert count_equal([one, other, one]) == {one: 3}
    assert count_equal([]) == {}


def test_the_division_is_that_of_the_layout(make_arch: MakeArch, make_view: MakeView) -> None:
    view = make_view(make_arch(), Layout(dp=4, ep=True, redundant_experts=2), ep_rank=3)
    assert (view.division.ep_rank, view.division.redundant_experts) == (3, 2)
    assert view.division.widths == view.widths
