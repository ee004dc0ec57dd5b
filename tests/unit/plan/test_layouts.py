"""Which layouts are tried, and in which order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.catalog.fleet import Fleet
from tonnage.layout.layout import Layout
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.moe import Moe
from tonnage.plan.layouts import attention_replicas, candidate_layouts, is_latent

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]


def test_a_dense_model_on_four_cards(make_arch: MakeArch, make_card: MakeCard) -> None:
    assert list(candidate_layouts(make_arch(), Fleet(1, 4, make_card()))) == [
        Layout(tp=4),
        Layout(tp=2, pp=2),
        Layout(tp=1, pp=4),
        # Then fewer cards.
        Layout(tp=3),
        Layout(tp=2),
        Layout(tp=1),
    ]


def test_a_mixture_also_with_whole_experts(make_arch: MakeArch, make_card: MakeCard, mixture_layer: Layer) -> None:
    assert list(candidate_layouts(make_arch(mixture_layer), Fleet(1, 2, make_card()))) == [
        Layout(tp=2),
        Layout(tp=2, ep=True),
        Layout(tp=1, pp=2),
        Layout(tp=1, pp=2, ep=True),
        Layout(tp=1),
    ]


def test_stages_lie_between_nodes_first(make_arch: MakeArch, make_card: MakeCard) -> None:
    found = list(candidate_layouts(make_arch(), Fleet(2, 4, make_card())))
    assert found[:4] == [Layout(tp=4, pp=2), Layout(tp=8), Layout(tp=2, pp=4), Layout(tp=1, pp=8)]
    assert all(layout.world == 8 for layout in found[:4])


def test_one_card_has_one_layout(make_arch: MakeArch, make_card: MakeCard) -> None:
    assert list(candidate_layouts(make_arch(), Fleet(1, 1, make_card()))) == [Layout()]


def test_no_layout_twice(make_arch: MakeArch, make_card: MakeCard, mixture_layer: Layer) -> None:
    found = list(candidate_layouts(make_arch(mixture_layer), Fleet(3, 8, make_card())))
    assert len(found) == len(set(found))


def test_sizes_nobody_runs_are_left_out(make_arch: MakeArch, make_card: MakeCard) -> None:
    # 1,000 nodes of 8: neither 8,000 tensor-parallel ranks nor 8,000 stages.
    found = list(candidate_layouts(make_arch(), Fleet(1000, 8, make_card())))
    assert found[:3] == [Layout(tp=8, pp=1000), Layout(tp=4, pp=2000), Layout(tp=2, pp=4000)]


def test_latent_caches(make_arch: MakeArch, latent_layer: Layer) -> None:
    assert is_latent(make_arch(latent_layer))
    assert not is_latent(make_arch())


@pytest.mark.parametrize("world", [2, 8, 16])
def test_attention_is_replicated_where_copies_cost(make_arch: MakeArch, latent_layer: Layer, world: int) -> None:
    latent_mixture = Layer(latent_layer.mixers, (Moe(8, 32, 2),))
    assert attention_replicas(make_arch(latent_mixture), world) == Layout(dp=world, ep=True)


def test_otherwise_it_is_not(make_arch: MakeArch, latent_layer: Layer, mixture_layer: Layer) -> None:
    latent_mixture = Layer(latent_layer.mixers, (Moe(8, 32, 2),))
    assert attention_replicas(make_arch(latent_mixture), 1) is None
    assert attention_replicas(make_arch(latent_layer), 8) is None
    assert attention_replicas(make_arch(mixture_layer), 8) is None
