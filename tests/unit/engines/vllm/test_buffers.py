"""What is kept beside the parameters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.engines.vllm.buffers import (
    absorbed_bytes,
    expert_map_bytes,
    rope_bytes,
    scale_bytes,
    unused_value_bytes,
)
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Layer, Rope
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]


def test_rotary_table_of_llama_8b(make_arch: MakeArch, make_view: MakeView) -> None:
    # 131,072 positions x 128 values x 2 B = 1/32 GiB: 14.957 + 0.031 = 14.988 GiB, as logged (vLLM issue 10517).
    view = make_view(make_arch(ropes=(Rope(131_072, 128),)))
    assert rope_bytes(view) == 33_554_432


def test_each_distinct_table_is_kept_once_on_every_stage(make_arch: MakeArch, make_view: MakeView) -> None:
    # Gemma: 4,096 x 64 x 2 B and, in its own 32 bits, 4,096 x 16 x 4 B.
    arch = make_arch(ropes=(Rope(4096, 64), Rope(4096, 16, "float32")))
    assert rope_bytes(make_view(arch)) == 524_288 + 262_144
    assert rope_bytes(make_view(arch, Layout(pp=2), layers=range(2))) == 786_432
    assert rope_bytes(make_view(make_arch())) == 0


def test_models_in_32_bits_run_in_16(make_arch: MakeArch, make_view: MakeView) -> None:
    assert rope_bytes(make_view(make_arch(dtype="float32", ropes=(Rope(4096, 64),)))) == 4096 * 64 * 2


def test_four_scales_per_attention(make_arch: MakeArch, make_view: MakeView, latent_layer: Layer) -> None:
    # 4 layers x 4 scalars x 4 B.
    assert scale_bytes(make_view(make_arch())) == 64
    assert scale_bytes(make_view(make_arch(latent_layer))) == 16


def test_linear_attention_has_no_scales(make_arch: MakeArch, make_view: MakeView, dense_layer: Layer) -> None:
    linear = Layer((DeltaNet(4, 4, 16, 16, 4),), (Dense(128),))
    assert scale_bytes(make_view(make_arch(linear, linear, linear, dense_layer))) == 16


@pytest.mark.parametrize(
    ("layout", "size"),
    [
        (Layout(), 0),
        (Layout(tp=4), 0),
        # 2 layers x 8 experts x 4 B.
        (Layout(tp=4, ep=True), 64),
        (Layout(dp=2, ep=True), 64),
        # One rank alone distributes nothing.
        (Layout(ep=True), 0),
    ],
)
def test_expert_map(
    make_arch: MakeArch, make_view: MakeView, dense_layer: Layer, mixture_layer: Layer, layout: Layout, size: int
) -> None:
    arch = make_arch(dense_layer, mixture_layer, mixture_layer)
    assert expert_map_bytes(make_view(arch, layout)) == size


def test_absorbed_projections_of_deepseek_v3(make_arch: MakeArch, make_view: MakeView) -> None:
    # 128 heads over 8 ranks: 16 x 512 x (128 + 128) x 2 B = 4 MiB a layer, 61 layers.
    layer = Layer((Mla(128, 1536, 512, 128, 64, 128),), (Dense(18432),))
    view = make_view(make_arch(*(layer,) * 61, hidden=7168), Layout(tp=8))
    assert absorbed_bytes(view) == 61 * 4_194_304


def test_nothing_is_absorbed_without_latent_attention(make_arch: MakeArch, make_view: MakeView) -> None:
    assert absorbed_bytes(make_view(make_arch())) == 0


def test_values_that_are_created_and_not_used(make_arch: MakeArch, make_view: MakeView) -> None:
    # 2 KV heads x 32 x hidden 64 x 2 B; over 4 ranks one head is copied.
    layer = Layer((Gqa(8, 2, 32, 32, shared_k=True),), (Dense(128),))
    arch = make_arch(layer, layer)
    assert unused_value_bytes(make_view(arch)) == 2 * 8192
    assert unused_value_bytes(make_view(arch, Layout(tp=4))) == 2 * 4096
    assert unused_value_bytes(make_view(make_arch())) == 0
