"""One rank as the formulas see it."""

from __future__ import annotations

from collections.abc import Callable

from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
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
