"""The largest moment while loading."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.engines.vllm.loading import load_peak_bytes
from tonnage.engines.vllm.version import Version
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Layer
from tonnage.model.quantization.formats import FP8_BLOCK_128
from tonnage.model.quantization.online import online_scheme
from tonnage.model.quantization.scheme import Rule, Scheme

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]

WEIGHTS = 400_000  # what the rank keeps in the end


@pytest.mark.parametrize("version", [Version(0, 8, 5), Version(0, 33)])
def test_stored_weights_are_filled_in_place(make_arch: MakeArch, make_view: MakeView, version: Version) -> None:
    # The largest matrix of a layer has 128 x 64 elements of 2 B.
    assert load_peak_bytes(version, make_view(make_arch()), WEIGHTS) == WEIGHTS + 16_384
    assert load_peak_bytes(version, make_view(make_arch(), Layout(tp=4)), WEIGHTS) == WEIGHTS + 4_096


def test_experts_come_one_by_one(make_arch: MakeArch, make_view: MakeView, mixture_layer: Layer) -> None:
    # Not 8 x 32 x 64: the query projection of 128 x 64 is the largest single tensor.
    assert load_peak_bytes(Version(0, 33), make_view(make_arch(mixture_layer)), WEIGHTS) == WEIGHTS + 16_384


def test_a_checkpoint_in_fp8_is_not_online(make_arch: MakeArch, make_view: MakeView) -> None:
    arch = make_arch(scheme=Scheme("fp8", (Rule("", FP8_BLOCK_128),)))
    assert load_peak_bytes(Version(0, 11), make_view(arch), WEIGHTS) < WEIGHTS + 20_000


@pytest.mark.parametrize("version", [Version(0, 8, 5), Version(0, 11), Version(0, 17, 1)])
def test_online_quantisation_first_holds_the_model_in_16_bits(
    make_arch: MakeArch, make_view: MakeView, version: Version
) -> None:
    # 4 x 49,280 + 2 x 65,536 + 64 = 328,256 elements of 2 B.
    arch = make_arch(scheme=online_scheme("fp8"))
    assert load_peak_bytes(version, make_view(arch), WEIGHTS) == 656_512
    # More than that is never less than the weights themselves.
    assert load_peak_bytes(version, make_view(arch), 700_000) == 700_000


@pytest.mark.parametrize("version", [Version(0, 18), Version(0, 33)])
def test_later_it_goes_layer_by_layer(make_arch: MakeArch, make_view: MakeView, version: Version) -> None:
    # The weights and a fourth of 656,512 B.
    arch = make_arch(scheme=online_scheme("fp8"))
    assert load_peak_bytes(version, make_view(arch), WEIGHTS) == WEIGHTS + 164_128


def test_checkpoints_in_32_bits_are_loaded_in_16(make_arch: MakeArch, make_view: MakeView) -> None:
    arch = make_arch(dtype="float32", scheme=online_scheme("fp8"))
    assert load_peak_bytes(Version(0, 11), make_view(arch), WEIGHTS) == 656_512
