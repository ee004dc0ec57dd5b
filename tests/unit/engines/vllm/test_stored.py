"""Bytes of a shard on a card."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.stored import keeping_of, mxfp4_multiples, refined
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.moe import Moe
from tonnage.model.quantization.formats import FP8_BLOCK_128, FP8_CHANNEL, GPTQ_INT4, MXFP4
from tonnage.model.quantization.scheme import Format, Rule, Scheme
from tonnage.model.tensor import Tensor

if TYPE_CHECKING:
    from tonnage.layout.parts import Group

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]

# gpt-oss: experts of 2880 x 2880.
INWARD = Tensor("mlp.experts.gate_proj", 2880, 2880, "rows", copies=128, is_expert=True)
OUTWARD = Tensor("mlp.experts.down_proj", 2880, 2880, "cols", copies=128, is_expert=True)
LINEAR = Tensor("self_attn.q_proj", 128, 512, "rows", units=8)
# A router's correction, in 32 bits whatever the model's type.
BIAS = Tensor("mlp.gate.e_score_correction_bias", 8, 1, kind="plain", dtype="float32")


def piece(tensor: Tensor, form: Format | None = None) -> Piece:
    """A piece of the group its tensor belongs to."""
    group: Group = "experts" if tensor.is_expert else "attention"
    return Piece(tensor, form, group)


def mxfp4_arch(make_arch: MakeArch, **changes: Any) -> Arch:
    """Experts in MXFP4, with biases like gpt-oss unless told otherwise."""
    moe = Moe(experts=8, width=32, top_k=2, **{"expert_bias": True, **changes})
    return make_arch(Layer((), (moe,)), scheme=Scheme("mxfp4", (Rule("", MXFP4),)))


@pytest.mark.parametrize(
    ("vendor", "target", "multiples"),
    [
        ("nvidia", "sm_80", (128, 256)),
        ("nvidia", "sm_90", (128, 256)),
        ("nvidia", "sm_100", (128, 256)),
        ("nvidia", "sm_120", (128, 256)),
        ("nvidia", "sm_75", (64, 1)),
        ("intel", "xe2", (64, 1)),
        ("host", None, (32, 32)),
        ("amd", "gfx942", (256, 256)),
        ("amd", "gfx950", (256, 256)),
    ],
)
def test_multiples_of_gpt_oss(
    make_arch: MakeArch, make_card: MakeCard, vendor: str, target: str | None, multiples: tuple[int, int]
) -> None:
    assert mxfp4_multiples(mxfp4_arch(make_arch), make_card(vendor, target)) == multiples


def test_without_biases_rocm_takes_a_finer_kernel(make_arch: MakeArch, make_card: MakeCard) -> None:
    arch = mxfp4_arch(make_arch, expert_bias=False)
    assert mxfp4_multiples(arch, make_card("amd", "gfx950")) == (128, 128)


def test_gpt_oss_on_h100(make_arch: MakeArch, make_card: MakeCard) -> None:
    # Inner 2880 -> 2944 = 23 x 128, hidden 2880 -> 3072 = 12 x 256; half a byte a weight, a byte for each 32.
    # 2944 x 3072 = 9,043,968: 4,521,984 + 282,624 = 4,804,608 B.
    keeping = keeping_of(mxfp4_arch(make_arch), make_card())
    assert keeping.size(piece(INWARD, MXFP4), Shard(2880, 2880, 1)) == 4_804_608
    assert keeping.size(piece(OUTWARD, MXFP4), Shard(2880, 2880, 1)) == 4_804_608
    assert keeping.size(piece(INWARD, MXFP4), Shard(2880, 2880, 128)) == 128 * 4_804_608


def test_the_inner_width_is_padded_after_the_cut(make_arch: MakeArch, make_card: MakeCard) -> None:
    # 8 ranks: 360 -> 384. 384 x 3072 = 1,179,648: 589,824 + 36,864.
    keeping = keeping_of(mxfp4_arch(make_arch), make_card())
    assert keeping.size(piece(INWARD, MXFP4), Shard(360, 2880, 1)) == 626_688
    assert keeping.size(piece(OUTWARD, MXFP4), Shard(2880, 360, 1)) == 626_688


def test_only_experts_are_padded(make_arch: MakeArch, make_card: MakeCard) -> None:
    # 128 x 512 / 2 + 128 x 512 / 32.
    keeping = keeping_of(mxfp4_arch(make_arch), make_card())
    assert keeping.size(piece(LINEAR, MXFP4), Shard(128, 512, 1)) == 32_768 + 2_048


@pytest.mark.parametrize(
    ("tensor", "form", "shard", "plain", "padded"),
    [
        # Experts in 16 bits, rows of 256 x 2 = 512 B: 256 B more each.
        (INWARD, None, Shard(8, 256, 2), 2 * 8 * 512, 2 * 8 * 768),
        # Rows of 128 B are no multiple of 512.
        (INWARD, None, Shard(8, 64, 2), 2 * 8 * 128, 2 * 8 * 128),
        # fp8 linears: rows of 512 B, and a 4 B scale for each.
        (LINEAR, FP8_CHANNEL, Shard(128, 512, 1), 128 * 516, 128 * 772),
        (LINEAR, FP8_CHANNEL, Shard(128, 576, 1), 128 * 580, 128 * 580),
        # 16-bit linears and fp8 experts are left alone.
        (LINEAR, None, Shard(128, 512, 1), 131_072, 131_072),
        (INWARD, FP8_CHANNEL, Shard(8, 512, 1), 8 * 516, 8 * 516),
        (BIAS, None, Shard(8, 1, 1), 32, 32),
        (LINEAR, GPTQ_INT4, Shard(128, 512, 1), 32_768 + 128 * 4 * 2, 32_768 + 1_024),
    ],
)
def test_rocm_pads_rows(
    make_arch: MakeArch, make_card: MakeCard, tensor: Tensor, form: Format | None, shard: Shard, plain: int, padded: int
) -> None:
    arch = make_arch(scheme=Scheme("fp8", (Rule("", form),)))
    assert keeping_of(arch, make_card()).size(piece(tensor, form), shard) == plain
    assert keeping_of(arch, make_card("amd", "gfx942")).size(piece(tensor, form), shard) == padded


@pytest.mark.parametrize("method", ["compressed-tensors", "fbgemm_fp8"])
def test_other_methods_keep_their_rows(make_arch: MakeArch, make_card: MakeCard, method: str) -> None:
    keeping = keeping_of(make_arch(scheme=Scheme(method, (Rule("", FP8_CHANNEL),))), make_card("amd", "gfx942"))
    assert keeping.size(piece(LINEAR, FP8_CHANNEL), Shard(128, 512, 1)) == 128 * 516


def test_models_in_32_bits_are_kept_in_16(make_arch: MakeArch, make_card: MakeCard) -> None:
    keeping = keeping_of(make_arch(dtype="float32"), make_card())
    assert keeping.size(piece(LINEAR), Shard(128, 512, 1)) == 128 * 512 * 2
    assert keeping.size(piece(BIAS), Shard(8, 1, 1)) == 32


def test_an_undeclared_scheme_is_none(make_arch: MakeArch, make_card: MakeCard) -> None:
    # A configuration that names no quant_method: everything is created in 16 bits.
    scheme = Scheme("fp8", (Rule("", FP8_CHANNEL),), is_declared=False)
    keeping = keeping_of(make_arch(scheme=scheme), make_card())
    assert keeping.size(piece(LINEAR, FP8_CHANNEL), Shard(128, 512, 1)) == 128 * 512 * 2


@pytest.mark.parametrize(
    ("shard", "side"),
    [
        # Whole tiles along the inner width stay.
        (Shard(256, 4096, 1), 128),
        # 192 = 128 + 64: the largest side that divides 192 and 4096 is 64.
        (Shard(192, 4096, 1), 64),
        (Shard(96, 4096, 1), 32),
        # Below 32 no kernel follows.
        (Shard(48, 4096, 1), 128),
    ],
)
def test_ragged_experts_get_smaller_tiles(shard: Shard, side: int) -> None:
    expert = Tensor("mlp.experts.up_proj", 1536, 4096, "rows", copies=128, is_expert=True)
    form = refined(FP8_BLOCK_128, expert, shard)
    assert (form.tile_rows, form.tile_cols) == (side, side)


def test_only_blocks_are_refined() -> None:
    expert = Tensor("mlp.experts.up_proj", 1536, 4096, "rows", copies=128, is_expert=True)
    assert refined(FP8_CHANNEL, expert, Shard(192, 4096, 1)) is FP8_CHANNEL
    assert refined(MXFP4, expert, Shard(192, 4096, 1)) is MXFP4


def test_smaller_tiles_have_more_scales(make_arch: MakeArch, make_card: MakeCard) -> None:
    # 192 x 4096 B and 3 x 64 scales of 4 B; whole tiles would have 2 x 32.
    expert = Tensor("mlp.experts.up_proj", 1536, 4096, "rows", copies=128, is_expert=True)
    keeping = keeping_of(make_arch(), make_card())
    assert keeping.size(piece(expert, FP8_BLOCK_128), Shard(192, 4096, 1)) == 786_432 + 768


def test_scales_of_fp8_are_written_out_where_cards_lack_it(make_arch: MakeArch, make_card: MakeCard) -> None:
    tensor, shard = Tensor("mlp.down_proj", 5120, 17_408, "cols"), Shard(5120, 17_408, 1)
    arch = make_arch(scheme=Scheme("fp8", (Rule("", FP8_BLOCK_128),)))
    ada, ampere = (keeping_of(arch, make_card(target=target)) for target in ("sm_89", "sm_86"))
    # 40 x 136 scales of 4 B; on Ampere 136 groups for each of 5,120 rows, 2 B each
    assert ada.size(piece(tensor, FP8_BLOCK_128), shard) == 5120 * 17_408 + 40 * 136 * 4
    assert ampere.size(piece(tensor, FP8_BLOCK_128), shard) == 5120 * 17_408 + 5120 * 136 * 2
    # one scale a row in 16 bit instead of 32
    assert ampere.size(piece(tensor, FP8_CHANNEL), shard) == 5120 * 17_408 + 5120 * 2


def test_elements_and_scales_are_parameters_of_their_own(make_arch: MakeArch, make_card: MakeCard) -> None:
    arch = make_arch(scheme=Scheme("fp8", (Rule("", FP8_BLOCK_128),)))
    keeping = keeping_of(arch, make_card(target="sm_90"))
    assert keeping.split_size(piece(LINEAR, FP8_BLOCK_128), Shard(128, 512, 1)) == (65_536, 4 * 4)
    assert keeping.split_size(piece(LINEAR), Shard(128, 512, 1)) == (131_072, 0)
    # gpt-oss on Hopper: 2,880 is padded to 2,944 rows a rank and 3,072 columns, half a byte each
    padded = mxfp4_arch(make_arch)
    elements, scales = keeping_of(padded, make_card(target="sm_90")).split_size(
        piece(INWARD, MXFP4), Shard(2880, 2880, 128)
    )
    assert elements == 128 * 2944 * 3072 // 2
    assert scales == 128 * 2944 * 3072 // 32
