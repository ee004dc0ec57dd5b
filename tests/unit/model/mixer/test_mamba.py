"""Tensors of state-space mixers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.shard import cut
from tonnage.model.mixer.mamba import Mamba1, Mamba2, mamba1_tensors, mamba2_tensors
from tonnage.model.tensor import Tensor

JAMBA = Mamba1(inner=8192, state=16, kernel=4, dt_rank=256, inner_norms=True)
NEMOTRON_H_56B = Mamba2(heads=256, head_dim=64, groups=8, state=256, kernel=4)
GRANITE = Mamba2(heads=48, head_dim=64, groups=1, state=128, kernel=4, name="mamba")


def size(tensors: tuple[Tensor, ...]) -> int:
    return sum(tensor.params for tensor in tensors)


def test_parameters_of_jamba() -> None:
    # in 2 x 8192 x 4096, conv 8192 (4 + 1), x (256 + 2 x 16) 8192, dt 8192 (256 + 1), A 8192 x 16, D 8192,
    # out 4096 x 8192, norms 256 + 2 x 16
    # = 67,108,864 + 40,960 + 2,359,296 + 2,105,344 + 131,072 + 8,192 + 33,554,432 + 288
    assert size(mamba1_tensors(JAMBA, 4096)) == 105_308_448


def test_optional_parameters_of_the_first_generation() -> None:
    plain = size(mamba1_tensors(replace(JAMBA, inner_norms=False, conv_bias=False), 4096))
    assert plain == 105_308_448 - 288 - 8192
    biased = size(mamba1_tensors(replace(JAMBA, proj_bias=True), 4096))
    assert biased == 105_308_448 + 2 * 8192 + 4096


def test_channels_divide_and_the_low_rank_does_not() -> None:
    shards = {t.name.removeprefix("mamba."): cut(t, 8) for t in mamba1_tensors(JAMBA, 4096)}
    assert (shards["in_proj"].rows, shards["x_proj"].rows, shards["x_proj"].cols) == (2048, 288, 1024)
    assert (shards["A_log"].rows, shards["A_log"].cols, shards["dt_layernorm"].rows) == (1024, 16, 256)
    assert shards["out_proj"].cols == 1024


def test_parameters_of_nemotron_h_56b() -> None:
    # inner 16,384, B and C 2 x 8 x 256 = 4096
    # in 8192 (2 x 16,384 + 4096 + 256) + conv 20,480 (4 + 1) + 3 x 256 + norm 16,384 + out 16,384 x 8192
    # = 304,087,040 + 102,400 + 768 + 16,384 + 134,217,728
    assert size(mamba2_tensors(NEMOTRON_H_56B, 8192)) == 438_424_320
    assert NEMOTRON_H_56B.inner == 16_384


def test_optional_parameters_of_the_second_generation() -> None:
    assert size(mamba2_tensors(replace(NEMOTRON_H_56B, gated_norm=False), 8192)) == 438_424_320 - 16_384
    assert size(mamba2_tensors(replace(NEMOTRON_H_56B, conv_bias=False), 8192)) == 438_424_320 - 20_480
    # in_proj 37,120 rows, out_proj 8192
    assert size(mamba2_tensors(replace(NEMOTRON_H_56B, proj_bias=True), 8192)) == 438_424_320 + 37_120 + 8192


def test_groups_divide_with_the_heads() -> None:
    shards = {t.name.removeprefix("mixer."): cut(t, 8) for t in mamba2_tensors(NEMOTRON_H_56B, 8192)}
    assert (shards["in_proj"].rows, shards["conv1d"].rows, shards["norm"].rows) == (4640, 2560, 2048)
    assert (shards["A_log"].rows, shards["D"].rows, shards["dt_bias"].rows) == (32, 32, 32)


def test_a_single_group_stands_on_every_rank() -> None:
    inward = [cut(t, 4).rows for t in mamba2_tensors(GRANITE, 1536) if t.name == "mamba.in_proj"]
    # (2 x 3072 + 48) / 4 rows of heads, and B and C, 2 x 128, whole
    assert inward == [1548, 256]
    # 1536 (2 x 3072 + 256 + 48) + (3072 + 256) 5 + 3 x 48 + 3072 + 3072 x 1536
    assert size(mamba2_tensors(GRANITE, 1536)) == 9_904_128 + 16_640 + 144 + 3072 + 4_718_592


def test_ranks_must_divide_several_groups() -> None:
    with pytest.raises(LayoutError, match="8 pieces over 16 ranks"):
        cut(mamba2_tensors(NEMOTRON_H_56B, 8192)[0], 16)


def test_decay_is_32_bits_wide() -> None:
    for tensors in (mamba1_tensors(JAMBA, 4096), mamba2_tensors(GRANITE, 1536)):
        assert {t.name for t in tensors if t.dtype == "float32"} == {"mamba.A_log"}
