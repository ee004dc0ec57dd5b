from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.batch import BatchLimits, batch_limits
from tonnage.engines.sglang.fraction import Start, static_fraction, vision_factor
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.layout.layout import Layout
from tonnage.model.arch import Arch, Tower
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.value import replace

ArchOf = Callable[..., Arch]
MIB = 2**20
H200, MI355X = 143_771 * MIB, 294_896 * MIB
OLD = Version(0, 4, 6)


def start(version: Version, card: Accelerator, size: int, arch: Arch, layout: Layout) -> Start:
    return Start(version, card, size, arch, layout, batch_limits(version, size, layout.tp), 4096)


def test_automatic_value_of_a_sparse_model_on_mi355x(instinct: Accelerator, sparse_mla: Mla, arch_of: ArchOf) -> None:
    # 512 + 16,384 x 1.5 + 8 / 8 x 1,024 + 512 x 2 = 27,136 MiB of 294,896: a start log of GLM-5 says 0.908.
    found = static_fraction(start(Version(0, 5, 8), instinct, MI355X, arch_of(sparse_mla), Layout(8)), None)
    assert found == 0.908


def test_vision_models_keep_more_aside(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    # 512 + 12,288 + 128 + 512 = 13,440 MiB: 0.907; encoder 24 x 1152^2 / (24 x 1024^2) = 1.2656; the log says 0.8388.
    arch = arch_of(gqa, family="qwen3_vl", towers=(Tower("vision", 27, 1152, ()),))
    assert static_fraction(start(NEWEST, hopper, H200, arch, Layout()), None) == pytest.approx(0.8388, abs=1e-4)


def test_weight_of_an_encoder() -> None:
    # Kimi K2.5: 27 x 1152^2 / (24 x 1024^2) = 1.4238; 0.95 x 0.95762. Its log: 0.908 x 0.90974 = 0.82604.
    assert vision_factor((Tower("vision", 27, 1152, ()),), "kimi_k25") == pytest.approx(0.90974, abs=1e-5)
    assert vision_factor((Tower("vision", 80, 4096, ()),), "other") == pytest.approx(0.95 * 0.8)
    assert vision_factor((Tower("vision", 4, 256, ()),), "other") == pytest.approx(0.95 * 1.05)
    assert vision_factor((Tower("audio", 24, 1024, ()),), "other") == 1.0
    assert vision_factor((), "other") == 1.0


def test_prefill_graphs_and_the_floor(hopper: Accelerator, gqa: Gqa, mla: Mla, arch_of: ArchOf) -> None:
    # 13,440 + 58 sizes x 8 = 13,904 MiB.
    plain = static_fraction(start(NEWEST, hopper, H200, arch_of(gqa), Layout()), None)
    assert plain == round((143_771 - 13_904) / 143_771, 3)
    # 512 + 12,288 + 1,024 + 1,024 + 1,536 = 16,384.
    latent = static_fraction(start(NEWEST, hopper, H200, arch_of(mla), Layout(8)), None)
    assert latent == round((143_771 - 16_384) / 143_771, 3)
    small = replace(start(NEWEST, hopper, H200, arch_of(gqa), Layout(4, 2)), batch=BatchLimits(512, 0))
    # 512 + 3,072 + 1,024 = 4,608 is less than the least of 10,240.
    assert static_fraction(small, None) == round((143_771 - 10_240) / 143_771, 3)


def test_data_parallel_attention_pads_decode(hopper: Accelerator, mla: Mla, arch_of: ArchOf) -> None:
    # 512 + 12,288 + 1,024 + 1,024 + 512 x 8 x 3 x 1.5 = 33,280.
    layout = Layout(8, dp=8, dp_inside_tp=True)
    assert static_fraction(start(NEWEST, hopper, H200, arch_of(mla), layout), None) == round(
        (143_771 - 33_280) / 143_771, 3
    )


@pytest.mark.parametrize(("tp", "value"), [(1, 0.88), (2, 0.87), (4, 0.85), (8, 0.81), (16, 0.79)])
def test_old_values_by_width(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, tp: int, value: float) -> None:
    assert static_fraction(start(OLD, hopper, 81_559 * MIB, arch_of(gqa), Layout(tp)), None) == value


def test_old_value_of_a_large_card(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    # min(0.81 + 48 x 0.19 / 140.4, (140.4 - 18) / 140.4) = min(0.87496, 0.87180)
    found = static_fraction(start(OLD, hopper, H200, arch_of(gqa), Layout(8)), None)
    assert found == pytest.approx((143_771 - 18_432) / 143_771)


def test_aiter_takes_a_share_for_long_contexts(
    instinct: Accelerator, gqa: Gqa, mla: Mla, sparse_mla: Mla, arch_of: ArchOf
) -> None:
    long = replace(start(NEWEST, instinct, MI355X, arch_of(gqa), Layout()), max_model_len=16384)
    assert static_fraction(long, 0.9) == pytest.approx(0.765)
    assert static_fraction(replace(long, max_model_len=8192), 0.9) == 0.9
    assert static_fraction(replace(long, arch=arch_of(sparse_mla)), 0.9) == 0.9
    # The latent kernels take 16 or 128 heads on a rank.
    assert static_fraction(replace(long, arch=arch_of(mla)), 0.9) == pytest.approx(0.765)
    assert static_fraction(replace(long, arch=arch_of(mla), layout=Layout(2)), 0.9) == 0.9


def test_cuda_cards_keep_what_was_asked(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    long = replace(start(NEWEST, hopper, H200, arch_of(gqa), Layout()), max_model_len=131072)
    assert static_fraction(long, 0.93) == 0.93
