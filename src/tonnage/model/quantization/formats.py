"""The closed table of storage formats and the bytes a matrix takes in each."""

from __future__ import annotations

from tonnage.model.quantization.scheme import Format

BYTE_BITS = 8
FP32_BYTES, BF16_BYTES = 4, 2
INT4_BITS, FP4_BITS, FP6_BITS, FP32_BITS, BF16_BITS = 4, 4, 6, 32, 16

# OCP Microscaling Formats specification 1.0: blocks of 32 elements share one E8M0 byte.
MX_BLOCK = 32
# NVIDIA's NVFP4: blocks of 16 share one E4M3 byte (modelopt, vLLM compressed_tensors_w4a4_nvfp4.py).
NVFP4_BLOCK = 16
# Fine-grained fp8 as DeepSeek V3 introduced it; vLLM fp8.py takes any pair, this is the usual one.
FP8_BLOCK = 128
# AutoAWQ and AutoGPTQ recipes: 128 input features share a scale.
INT4_GROUP = 128
# bitsandbytes functional.quantize_4bit: 64 elements per absmax; nested statistics quantise 256 absmax values
# together; 16 fp32 codes, a 256-entry fp32 code book and one fp32 offset stand per matrix.
NF4_BLOCK, NF4_NESTED, NF4_TABLE_BYTES = 64, 256, 16 * 4
NF4_NESTED_TABLE_BYTES = NF4_TABLE_BYTES + 256 * 4 + 4
# compressed-tensors writes the unpacked shape beside each packed matrix: two int32.
PACKED_SHAPE_BYTES = 8
# GPTQ's g_idx is one int32 per input feature.
GROUP_INDEX_BYTES = 4


def ceil_div(value: int, by: int) -> int:
    """`value / by` rounded up; both are positive integers."""
    return -(-value // by)


def stored_bytes(form: Format, rows: int, cols: int) -> int:
    """Exact bytes of a `rows` x `cols` matrix with its scales, tiles rounded up along each axis.

    Elements are packed over the whole matrix; ragged last tiles carry a full scale
    (vLLM parameter.py, BlockQuantScaleParameter: ceil per dimension).
    """
    if rows <= 0 or cols <= 0:
        return 0
    data = ceil_div(rows * cols * form.bits, BYTE_BITS)
    tiles = ceil_div(rows, form.tile_rows or rows) * ceil_div(cols, form.tile_cols or cols)
    zeros = ceil_div(tiles * form.zero_bits, BYTE_BITS)
    nested = FP32_BYTES * ceil_div(tiles, form.nested) if form.nested else 0
    return data + tiles * form.scale_bytes + zeros + nested + form.tensor_bytes + cols * form.column_bytes


def fp8_block(rows: int, cols: int, scale_bytes: int = FP32_BYTES) -> Format:
    """fp8 with one scale per `rows` x `cols` tile: fp32, or one E8M0 byte (`scale_bytes=1`)."""
    suffix = "" if scale_bytes == FP32_BYTES else "-e8m0"
    return Format(f"fp8-block-{rows}x{cols}{suffix}", BYTE_BITS, rows, cols, scale_bytes)


def int_packed(bits: int, group: int | None, has_zero: bool = False, is_indexed: bool = False) -> Format:
    """Packed integers with 16-bit scales per `group` input features (None: per channel): GPTQ and AWQ.

    `has_zero` adds a packed zero point per group, `is_indexed` the g_idx of activation ordering. A symmetric GPTQ
    file also carries constant zero points; engines drop them when they repack (vLLM auto_gptq.py, Marlin), so
    they are not counted: the logged size of a 70B GPTQ model is met without them and missed with them.
    """
    name = f"int{bits}-{_grouping(group)}{'-zero' if has_zero else ''}{'-gidx' if is_indexed else ''}"
    index = GROUP_INDEX_BYTES if is_indexed else 0
    return Format(name, bits, 1, group or 0, BF16_BYTES, bits if has_zero else 0, 0, index)


def int_pack_quantized(bits: int, group: int | None, is_symmetric: bool = True, is_indexed: bool = False) -> Format:
    """compressed-tensors `pack-quantized`: like GPTQ, plus the shape of each matrix.

    vLLM compressed_tensors_wNa16.py: scales in the model's 16-bit type; zero points packed when not symmetric.
    """
    plain = int_packed(bits, group, not is_symmetric, is_indexed)
    return Format(
        f"pack-{plain.name}",
        bits,
        1,
        group or 0,
        BF16_BYTES,
        plain.zero_bits,
        PACKED_SHAPE_BYTES,
        plain.column_bytes,
    )


def int_affine(bits: int, group: int | None) -> Format:
    """Integers with a 16-bit scale and a 16-bit zero per group (HQQ, torchao int4 weight-only)."""
    return Format(f"int{bits}-affine-{_grouping(group)}", bits, 1, group or 0, 2 * BF16_BYTES)


def nvfp4(group: int = NVFP4_BLOCK, has_input_scale: bool = True) -> Format:
    """NVFP4: E4M3 scale per `group`, fp32 global scale, and an fp32 input scale unless weight-only (W4A16)."""
    scalars = 2 * FP32_BYTES if has_input_scale else FP32_BYTES
    return Format(f"nvfp4-g{group}{'' if has_input_scale else '-w4a16'}", FP4_BITS, 1, group, 1, 0, scalars)


def _grouping(group: int | None) -> str:
    return f"g{group}" if group else "channel"


BF16 = Format("bf16", BF16_BITS)
FP16 = Format("fp16", BF16_BITS)
FP32 = Format("fp32", FP32_BITS)
FP8_TENSOR = Format("fp8-tensor", BYTE_BITS, 0, 0, FP32_BYTES)
FP8_TENSOR_STATIC = Format("fp8-tensor-static", BYTE_BITS, 0, 0, FP32_BYTES, 0, FP32_BYTES)
FP8_CHANNEL = Format("fp8-channel", BYTE_BITS, 1, 0, FP32_BYTES)
FP8_CHANNEL_STATIC = Format("fp8-channel-static", BYTE_BITS, 1, 0, FP32_BYTES, 0, FP32_BYTES)
FP8_BLOCK_128 = fp8_block(FP8_BLOCK, FP8_BLOCK)
INT8_TENSOR = Format("int8-tensor", BYTE_BITS, 0, 0, FP32_BYTES)
INT8_CHANNEL = Format("int8-channel", BYTE_BITS, 1, 0, FP32_BYTES)
INT8_CHANNEL_STATIC = Format("int8-channel-static", BYTE_BITS, 1, 0, FP32_BYTES, 0, FP32_BYTES)
INT8_CHANNEL_HALF = Format("int8-channel-half", BYTE_BITS, 1, 0, BF16_BYTES)
GPTQ_INT4 = int_packed(INT4_BITS, INT4_GROUP)
GPTQ_INT8 = int_packed(BYTE_BITS, INT4_GROUP)
AWQ_INT4 = int_packed(INT4_BITS, INT4_GROUP, has_zero=True)
W4A16 = int_pack_quantized(INT4_BITS, INT4_GROUP)
W4A16_G32 = int_pack_quantized(INT4_BITS, MX_BLOCK)
W4A16_CHANNEL = int_pack_quantized(INT4_BITS, None)
W4A8_FP8 = Format("w4a8-fp8", INT4_BITS, 1, 0, FP32_BYTES, 0, FP32_BYTES)
MXFP4 = Format("mxfp4", FP4_BITS, 1, MX_BLOCK, 1)
MXFP6 = Format("mxfp6", FP6_BITS, 1, MX_BLOCK, 1)
MXFP8 = Format("mxfp8", BYTE_BITS, 1, MX_BLOCK, 1)
NVFP4 = nvfp4()
NVFP4_W4A16 = nvfp4(has_input_scale=False)
NF4 = Format("nf4", FP4_BITS, 1, NF4_BLOCK, FP32_BYTES, 0, NF4_TABLE_BYTES)
NF4_DOUBLE = Format("nf4-double", FP4_BITS, 1, NF4_BLOCK, 1, 0, NF4_NESTED_TABLE_BYTES, 0, NF4_NESTED)


# Each format with the place its layout was read from.
_TABLE: tuple[tuple[Format, str], ...] = (
    (BF16, "16-bit float"),
    (FP16, "16-bit float"),
    (FP32, "32-bit float"),
    (FP8_TENSOR, "vLLM fp8.py: one fp32 weight scale per matrix"),
    (FP8_TENSOR_STATIC, "vLLM fp8.py: activation_scheme static adds an fp32 input scale"),
    (FP8_CHANNEL, "vLLM compressed_tensors_w8a8_fp8.py: ChannelQuantScaleParameter fp32; fbgemm_fp8.py alike"),
    (FP8_CHANNEL_STATIC, "the same with an fp32 input scale (fbgemm_fp8.py: input_scale_ub)"),
    (FP8_BLOCK_128, "vLLM fp8.py: fp32 weight_scale_inv per 128x128 tile, ceil per dimension"),
    (fp8_block(FP8_BLOCK, FP8_BLOCK, 1), "vLLM deepseek_v4/quant_config.py: E8M0 scales beside fp4 experts"),
    (fp8_block(MX_BLOCK, MX_BLOCK, 1), "vLLM deepseek_v41/quant_config.py: 32x32 tiles"),
    (INT8_TENSOR, "vLLM compressed_tensors_w8a8_int8.py, strategy tensor"),
    (INT8_CHANNEL, "vLLM compressed_tensors_w8a8_int8.py, strategy channel, fp32 scale"),
    (INT8_CHANNEL_STATIC, "the same with an fp32 input scale"),
    (INT8_CHANNEL_HALF, "bitsandbytes LLM.int8, EETQ, torchao int8: one 16-bit scale per row"),
    (GPTQ_INT4, "vLLM auto_gptq.py, symmetric, after repacking"),
    (GPTQ_INT8, "vLLM auto_gptq.py, bits 8"),
    (AWQ_INT4, "vLLM auto_awq.py: fp16 scales, packed zero points"),
    (W4A16, "vLLM compressed_tensors_wNa16.py, group 128"),
    (W4A16_G32, "vLLM compressed_tensors_wNa16.py, group 32 (Kimi K2.5)"),
    (W4A16_CHANNEL, "vLLM compressed_tensors_wNa16.py, strategy channel"),
    (W4A8_FP8, "vLLM quark.py _is_fp8_w4a8: int4 per channel under one fp8 scale per tensor"),
    (MXFP4, "OCP MX 1.0; vLLM mxfp4.py"),
    (MXFP6, "OCP MX 1.0; vLLM quark_ocp_mx.py"),
    (MXFP8, "OCP MX 1.0; vLLM modelopt.py ModelOptMxFp8Config"),
    (NVFP4, "vLLM modelopt.py ModelOptNvFp4Config: weight_scale, weight_scale_2, input_scale"),
    (NVFP4_W4A16, "vLLM modelopt.py W4A16_NVFP4: no input scale"),
    (NF4, "bitsandbytes quantize_4bit"),
    (NF4_DOUBLE, "bitsandbytes quantize_4bit with compress_statistics"),
)
FORMATS: dict[str, Format] = {form.name: form for form, _ in _TABLE}
SOURCES: dict[str, str] = {form.name: source for form, source in _TABLE}
