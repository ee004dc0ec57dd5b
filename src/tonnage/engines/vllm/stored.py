"""Bytes of a shard as vLLM keeps it on a card: its own dtype, and the padding of some kernels."""

from __future__ import annotations

from tonnage.catalog.accelerator import Accelerator
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.model.dtypes import element_bytes
from tonnage.model.quantization.formats import stored_bytes
from tonnage.model.tensor import Tensor
from tonnage.units import round_up

# Expert matrices in MXFP4 are padded to what their kernel takes (vLLM `fused_moe/oracle/mxfp4.py`): inner width
# per rank, hidden width.
MXFP4_CPU = (32, 32)
MXFP4_MARLIN = (128, 256)  # Ampere, Ada and Hopper
MXFP4_TRTLLM = (128, 256)  # data-centre Blackwell
MXFP4_ROCM = (128, 128)
MXFP4_ROCM_BIASED = (256, 256)  # experts with biases (gpt-oss) take another kernel
MXFP4_OTHER = (64, 1)
# ROCm adds 256 B to rows that are a multiple of 512 B: 16-bit experts and fp8 linears
# (VLLM_ROCM_MOE_PADDING and VLLM_ROCM_FP8_PADDING, `platforms/rocm.py`).
ROCM_ROW_MULTIPLE, ROCM_ROW_PADDING = 512, 256


def stored_on(card: Accelerator, piece: Piece, shard: Shard, dtype: str, is_declared: bool = True) -> int:
    """Bytes of all copies of `shard`; `dtype` is the type of tensors that are not quantised.

    Without `is_declared` (a configuration that names no `quant_method`) vLLM creates every tensor in `dtype`
    (`transformers_utils/model_arch_config_convertor.py`).
    """
    form, tensor = piece.format if is_declared else None, piece.tensor
    if form is None:
        size = element_bytes(tensor.dtype or dtype)
        return shard.copies * shard.rows * _row_bytes(card, piece, shard.cols * size)
    if form.name.startswith("mxfp4") and tensor.is_expert:
        shard = pad_mxfp4(card, piece.tensor, shard)
    data = stored_bytes(form, shard.rows, shard.cols)
    if form.bits == 8 and form.name.startswith("fp8"):
        data += shard.rows * (_row_bytes(card, piece, shard.cols) - shard.cols)
    return shard.copies * data


def _row_bytes(card: Accelerator, piece: Piece, row: int) -> int:
    """A row with ROCm's padding, where it applies."""
    pads = card.vendor == "amd" and piece.tensor.kind == "linear"
    applies = piece.format is not None or piece.group == "experts"
    return row + ROCM_ROW_PADDING if pads and applies and row % ROCM_ROW_MULTIPLE == 0 else row


def mxfp4_multiples(card: Accelerator, is_biased: bool = False) -> tuple[int, int]:
    """What inner and hidden widths of MXFP4 experts are rounded up to on this card."""
    if card.vendor == "host":
        return MXFP4_CPU
    if card.vendor == "amd":
        return MXFP4_ROCM_BIASED if is_biased else MXFP4_ROCM
    target = card.target or ""
    if target.startswith("sm_10"):
        return MXFP4_TRTLLM
    return MXFP4_MARLIN if target.startswith(("sm_8", "sm_9", "sm_12")) else MXFP4_OTHER


def pad_mxfp4(card: Accelerator, tensor: Tensor, shard: Shard) -> Shard:
    """The padded shard: the inner width is the axis that is divided, the hidden width the other."""
    inner, hidden = mxfp4_multiples(card)
    if tensor.split == "cols":
        return Shard(round_up(shard.rows, hidden), round_up(shard.cols, inner), shard.copies)
    return Shard(round_up(shard.rows, inner), round_up(shard.cols, hidden), shard.copies)

