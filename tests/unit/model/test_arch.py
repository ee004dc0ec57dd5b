"""Whole models."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.model.arch import Arch, Layer, Rope, Tower
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

MakeArch = Callable[..., Arch]


def test_some_layers_route_to_experts(make_arch: MakeArch, dense_layer: Layer, mixture_layer: Layer) -> None:
    assert make_arch(dense_layer, mixture_layer).has_experts
    assert not make_arch(dense_layer, dense_layer).has_experts


def test_layers_without_parts_route_to_none(make_arch: MakeArch) -> None:
    assert not make_arch(Layer((), ())).has_experts


def test_what_a_model_lacks_is_empty(make_arch: MakeArch) -> None:
    arch = make_arch()
    assert (arch.outer, arch.towers, arch.draft, arch.ropes, arch.notes) == ((), (), (), (), ())
    assert (arch.scheme, arch.kv_dtype, arch.duplicates, arch.head_bias) == (None, None, 0, False)


def test_tables_and_towers_follow_the_model_unless_told_otherwise() -> None:
    assert Rope(4096, 64).dtype is None
    assert Tower("vision", 1, 32, ()).max_tokens is None


def test_models_are_values(make_arch: MakeArch) -> None:
    assert make_arch() == make_arch()
    assert make_arch() != make_arch(tied=True)
    with pytest.raises(AttributeError):
        make_arch().hidden = 128  # type: ignore[misc]


def test_mixers_of_the_distinct_layers(make_arch: MakeArch, dense_layer: Layer, latent_layer: Layer) -> None:
    arch = make_arch(dense_layer, latent_layer, dense_layer)
    assert arch.mixers == (*dense_layer.mixers, *latent_layer.mixers)
    assert arch.has_mixer(Mla)
    assert arch.has_mixer((Compressed, Gqa))
    assert not arch.has_mixer(Compressed)
