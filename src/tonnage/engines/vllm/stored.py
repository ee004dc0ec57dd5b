"""Bytes of a shard as vLLM keeps it on a card: its own dtype, and the padding of some kernels."""

from __future__ import annotations

from tonnage.engines.vllm.kv_types import compute_dtype
from tonnage.layout.shard import pad_expert
from tonnage.model.dtypes import element_bytes
from tonnage.model.ffn.moe import Moe
from tonnage.model.quantization.formats import BF16_BYTES, BYTE_BITS, stored_bytes
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.layout.parts import Piece
    from tonnage.layout.shard import Shard
    from tonnage.model.arch import Arch
    from tonnage.model.quantization.scheme import Format
    from tonnage.model.tensor import Tensor

# Expert matrices in MXFP4 are padded to what their kernel takes (vLLM `fused_moe/oracle/mxfp4.py`): inner width
# per rank, hidden width.
MXFP4_CPU = (32, 32)
MXFP4_MARLIN = (128, 256)  # Ampere, Ada and Hopper, and every checkpoint in compressed-tensors' own MXFP4
MXFP4_TRTLLM = (128, 256)  # data-centre Blackwell
MXFP4_ROCM = (128, 128)
MXFP4_ROCM_BIASED = (256, 256)  # experts with biases (gpt-oss) have an activation that takes the generic kernel
MXFP4_OTHER = (64, 1)
COMPRESSED = "compressed-tensors"
# Cards without fp8 arithmetic keep fp8 weights in Marlin's layout, whose scales stand per group of input features and
# output feature (vLLM `quantization/utils/marlin_utils_fp8.py` prepare_fp8_layer_for_marlin).
WITHOUT_FP8 = ("sm_75", "sm_80", "sm_86", "sm_87")
SMALLEST_TILE = 32  # kernels take no finer scale blocks
# ROCm adds 256 B to rows that are a multiple of 512 B: 16-bit experts and fp8 linears
# (VLLM_ROCM_MOE_PADDING and VLLM_ROCM_FP8_PADDING, `platforms/rocm.py`).
ROCM_ROW_MULTIPLE, ROCM_ROW_PADDING = 512, 256


@value
class Keeping:
    """How vLLM keeps the tensors of one model on one kind of card.

    `dtype` is the type of tensors that are not quantised; without `is_quantised` all are created in it.
    MXFP4 experts are rounded up to `inner` per rank and `hidden`. `row_padding` is ROCm's,
    for experts in 16 bit and, with `pads_linears`, for linears in fp8. `repeats_scales` says that scales of fp8
    are written out per row, in 16 bit.
    """

    dtype: str
    is_quantised: bool
    inner: int
    hidden: int
    row_padding: int
    pads_linears: bool
    repeats_scales: bool = False

    def __call__(self, piece: Piece, shard: Shard) -> int:
        """Bytes of all copies of `shard`: a `Store` that equals another one of the same rules."""
        return self.size(piece, shard)

    def size(self, piece: Piece, shard: Shard) -> int:
        """Bytes of all copies of `shard`."""
        form, tensor = piece.format if self.is_quantised else None, piece.tensor
        if form is None:
            row = shard.cols * element_bytes(tensor.dtype or self.dtype)
            padding = self._padding(row) if piece.group == "experts" and tensor.kind == "linear" else 0
            return shard.copies * shard.rows * (row + padding)
        shard = self._shape(piece, shard)
        if tensor.is_expert:
            form = refined(form, tensor, shard)
        if self.repeats_scales and form.name.startswith("fp8"):
            form = replace(form, tile_rows=1, scale_bytes=BF16_BYTES)
        data = stored_bytes(form, shard.rows, shard.cols)
        if self.pads_linears and form.name.startswith("fp8") and not tensor.is_expert:
            data += shard.rows * self._padding(shard.cols)
        return shard.copies * data

    def split_size(self, piece: Piece, shard: Shard) -> tuple[int, int]:
        """Bytes of the elements of `shard` and of its scales, which are parameters of their own."""
        size, form = self.size(piece, shard), piece.format if self.is_quantised else None
        if form is None:
            return size, 0
        elements = self._shape(piece, shard).params * form.bits // BYTE_BITS
        return elements, size - elements

    def _shape(self, piece: Piece, shard: Shard) -> Shard:
        is_padded = piece.format is not None and piece.format.name.startswith("mxfp4") and piece.tensor.is_expert
        return pad_expert(piece.tensor, shard, self.inner, self.hidden) if is_padded else shard

    def _padding(self, row: int) -> int:
        return self.row_padding if row % ROCM_ROW_MULTIPLE == 0 else 0


def refined(form: Format, tensor: Tensor, shard: Shard) -> Format:
    """The format with smaller scale tiles where an expert's shard does not hold whole ones.

    The tile becomes the largest that divides all axes (vLLM `fused_moe/oracle/fp8.py` refine_fp8_moe_block_shape).
    """
    if form.tile_rows <= 1 or form.tile_cols <= 1:
        return form
    # Imported here: most formats have no tiles.
    from math import gcd

    inner = shard.cols if tensor.split == "cols" else shard.rows
    side = gcd(form.tile_rows, form.tile_cols, shard.rows, shard.cols)
    is_whole = inner % form.tile_rows == 0 and inner % form.tile_cols == 0
    return form if is_whole or side < SMALLEST_TILE else replace(form, tile_rows=side, tile_cols=side)


def keeping_of(arch: Arch, card: Accelerator) -> Keeping:
    """How vLLM keeps `arch` on `card`.

    A configuration that names no `quant_method` is taken for unquantised
    (`transformers_utils/model_arch_config_convertor.py`).
    """
    is_quantised = arch.scheme is None or arch.scheme.is_declared
    padding = ROCM_ROW_PADDING if card.vendor == "amd" else 0
    # Only the plain fp8 method pads its linears; compressed-tensors and fbgemm keep theirs.
    pads_linears = arch.scheme is not None and arch.scheme.method == "fp8"
    return Keeping(
        compute_dtype(arch.dtype), is_quantised, *mxfp4_multiples(arch, card), padding, pads_linears,
        repeats_scales=(card.target or "") in WITHOUT_FP8,
    )  # fmt: skip


def mxfp4_multiples(arch: Arch, card: Accelerator) -> tuple[int, int]:
    """What inner and hidden widths of MXFP4 experts are rounded up to."""
    if card.vendor == "amd":
        return MXFP4_ROCM_BIASED if _has_biased_experts(arch) else MXFP4_ROCM
    if arch.scheme is not None and arch.scheme.method == COMPRESSED:
        return MXFP4_MARLIN
    if card.vendor == "host":
        return MXFP4_CPU
    target = card.target or ""
    if target.startswith("sm_10"):
        return MXFP4_TRTLLM
    return MXFP4_MARLIN if target.startswith(("sm_8", "sm_9", "sm_12")) else MXFP4_OTHER


def _has_biased_experts(arch: Arch) -> bool:
    return any(isinstance(ffn, Moe) and ffn.expert_bias for layer in arch.kinds for ffn in layer.ffns)
