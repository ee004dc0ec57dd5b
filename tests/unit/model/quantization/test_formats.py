"""Bytes of matrices, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.model.quantization.formats import (
    AWQ_INT4,
    BF16,
    FORMATS,
    FP8_BLOCK_128,
    FP8_CHANNEL,
    FP8_TENSOR,
    FP8_TENSOR_STATIC,
    FP32,
    GPTQ_INT4,
    GPTQ_INT8,
    INT8_CHANNEL,
    MXFP4,
    MXFP6,
    MXFP8,
    NF4,
    NF4_DOUBLE,
    NVFP4,
    NVFP4_W4A16,
    SOURCES,
    W4A8_FP8,
    W4A16,
    W4A16_CHANNEL,
    W4A16_G32,
    ceil_div,
    fp8_block,
    int_affine,
    int_pack_quantized,
    int_packed,
    nvfp4,
    stored_bytes,
)
from tonnage.model.quantization.scheme import Format

CASES = [
    # 2 and 4 bytes per element
    (BF16, 10, 20, 400),
    (FP32, 10, 20, 800),
    # one byte each; 4 B for the matrix, 8 with an input scale, 4 per row
    (FP8_TENSOR, 100, 50, 5_000 + 4),
    (FP8_TENSOR_STATIC, 100, 50, 5_000 + 4 + 4),
    (FP8_CHANNEL, 100, 50, 5_000 + 100 * 4),
    (INT8_CHANNEL, 4096, 4096, 16_777_216 + 4096 * 4),
    # 4096 x 12288 = 50,331,648 B and 32 x 96 tiles of 4 B
    (FP8_BLOCK_128, 4096, 12288, 50_331_648 + 32 * 96 * 4),
    # ragged: 192 rows are 2 tiles, 576 columns are 5
    (FP8_BLOCK_128, 192, 576, 192 * 576 + 2 * 5 * 4),
    # V4: the same tiles with one byte each; V4.1: 32 x 32
    (fp8_block(128, 128, 1), 4096, 12288, 50_331_648 + 32 * 96),
    (fp8_block(32, 32, 1), 64, 96, 64 * 96 + 2 * 3),
    # half a byte and 2 B per 128; zero points half a byte per 128
    (GPTQ_INT4, 4096, 4096, 8_388_608 + 4096 * 32 * 2),
    (AWQ_INT4, 4096, 4096, 8_388_608 + 4096 * 32 * 2 + 4096 * 32 // 2),
    (GPTQ_INT8, 4096, 4096, 16_777_216 + 4096 * 32 * 2),
    # an index of 4 B per input feature
    (int_packed(4, 128, is_indexed=True), 4096, 4096, 8_388_608 + 4096 * 32 * 2 + 4096 * 4),
    (int_packed(3, 128), 8, 128, 8 * 128 * 3 // 8 + 8 * 2),
    # an expert of Kimi K2.5: 2048 x 7168, group 32, 8 B of shape
    (W4A16_G32, 2048, 7168, 7_340_032 + 2048 * 224 * 2 + 8),
    (W4A16, 2048, 7168, 7_340_032 + 2048 * 56 * 2 + 8),
    (W4A16_CHANNEL, 2048, 7168, 7_340_032 + 2048 * 2 + 8),
    (int_pack_quantized(4, 128, is_symmetric=False), 2048, 7168, 7_340_032 + 2048 * 56 * 2 + 2048 * 56 // 2 + 8),
    # half a byte and a byte per 32 (K3), six bits, one byte
    (MXFP4, 3072, 3584, 3072 * 3584 // 2 + 3072 * 112),
    (MXFP6, 3072, 3584, 3072 * 3584 * 6 // 8 + 3072 * 112),
    (MXFP8, 3072, 3584, 3072 * 3584 + 3072 * 112),
    (MXFP4, 2, 33, 33 + 2 * 2),
    # half a byte, a byte per 16, two scalars or one
    (NVFP4, 2048, 7168, 7_340_032 + 2048 * 448 + 8),
    (NVFP4_W4A16, 2048, 7168, 7_340_032 + 2048 * 448 + 4),
    (nvfp4(32), 2048, 7168, 7_340_032 + 2048 * 224 + 8),
    # 64 per block: 4 B each and a table of 64 B; or 1 B each, 4 B per 256 blocks, tables of 64 + 1024 + 4 B
    (NF4, 1024, 4096, 2_097_152 + 65_536 * 4 + 64),
    (NF4_DOUBLE, 1024, 4096, 2_097_152 + 65_536 + 256 * 4 + 1092),
    (W4A8_FP8, 1024, 4096, 2_097_152 + 1024 * 4 + 4),
    # 16-bit scale and zero per 64
    (int_affine(4, 64), 1024, 4096, 2_097_152 + 1024 * 64 * 4),
]


@pytest.mark.parametrize(("form", "rows", "cols", "expected"), CASES, ids=lambda value: getattr(value, "name", None))
def test_bytes_by_hand(form: Format, rows: int, cols: int, expected: int) -> None:
    assert stored_bytes(form, rows, cols) == expected


def test_an_empty_matrix_takes_nothing() -> None:
    assert stored_bytes(FP8_TENSOR, 0, 128) == 0
    assert stored_bytes(FP8_TENSOR, 128, 0) == 0


def test_kimi_k3_experts_take_17_32_of_a_byte_each() -> None:
    # 0.5 + 1/32 B: 17 B per 32 elements
    assert stored_bytes(MXFP4, 3072, 3584) * 32 == 3072 * 3584 * 17


def test_kimi_k2_experts_take_9_16_of_a_byte_each() -> None:
    # 0.5 + 2/32 B: 9 B per 16 elements, beside the 8 B of shape
    assert (stored_bytes(W4A16_G32, 2048, 7168) - 8) * 16 == 2048 * 7168 * 9


def test_kimi_k2_6_experts_add_up_to_the_published_file() -> None:
    # 60 layers x 384 experts x 3 matrices; the file has 595,148,192,736 B, of which the rest is 16-bit.
    experts = 60 * 384 * 3 * stored_bytes(W4A16_G32, 2048, 7168)
    # 1,014,686,023,680 weights x 9/16 and 69,120 x 8 B
    assert experts == 570_760_888_320 + 552_960


def test_llama_70b_awq_meets_its_logged_size() -> None:
    # q and o, k and v, gate, up and down of 80 layers; embedding and head 2 x 128256 x 8192 x 2 B.
    shapes = ((8192, 8192, 2), (1024, 8192, 2), (28672, 8192, 2), (8192, 28672, 1))
    linear = 80 * sum(count * stored_bytes(AWQ_INT4, rows, cols) for rows, cols, count in shapes)
    gib = (linear + 4_202_692_608) / 2**30
    assert gib == pytest.approx(37.09, abs=0.06)  # logged 37.09 GiB; norms, rope table and workspaces are not here


def test_llama_70b_gptq_meets_its_logged_size_without_zero_points() -> None:
    shapes = ((8192, 8192, 2), (1024, 8192, 2), (28672, 8192, 2), (8192, 28672, 1))
    linear = 80 * sum(count * stored_bytes(GPTQ_INT4, rows, cols) for rows, cols, count in shapes)
    gib = (linear + 4_202_692_608) / 2**30
    assert gib == pytest.approx(36.86, abs=0.08)  # logged 36.86 GiB


def test_names_are_unique_and_every_format_has_a_source() -> None:
    assert set(FORMATS) == set(SOURCES)
    assert all(form.name == name for name, form in FORMATS.items())
    assert all(source.strip() for source in SOURCES.values())
    assert len(FORMATS) == 28


def test_names_tell_variants_apart() -> None:
    assert int_packed(4, 128).name == "int4-g128"
    assert int_packed(4, None, has_zero=True).name == "int4-channel-zero"
    assert int_packed(8, 64, is_indexed=True).name == "int8-g64-gidx"
    assert int_pack_quantized(4, 32).name == "pack-int4-g32"
    assert int_affine(4, None).name == "int4-affine-channel"
    assert fp8_block(128, 64).name == "fp8-block-128x64"
    assert nvfp4(16, False).name == "nvfp4-g16-w4a16"


@pytest.mark.parametrize(("value", "by", "expected"), [(0, 8, 0), (1, 8, 1), (8, 8, 1), (9, 8, 2)])
def test_ceil_div(value: int, by: int, expected: int) -> None:
    assert ceil_div(value, by) == expected


sizes = st.integers(1, 20_000)


@settings(deadline=None)
@given(st.sampled_from(sorted(FORMATS)), sizes, sizes)
def test_no_matrix_is_smaller_than_its_bits(name: str, rows: int, cols: int) -> None:
    form = FORMATS[name]
    assert stored_bytes(form, rows, cols) * 8 >= rows * cols * form.bits


@settings(deadline=None)
@given(st.sampled_from(sorted(FORMATS)), sizes, sizes)
def test_more_rows_never_take_less(name: str, rows: int, cols: int) -> None:
    form = FORMATS[name]
    assert stored_bytes(form, rows + 1, cols) >= stored_bytes(form, rows, cols)
    assert stored_bytes(form, rows, cols + 1) >= stored_bytes(form, rows, cols)
