"""Bytes of a shard as SGLang keeps it on a card."""

from __future__ import annotations

from tonnage.engines.sglang.version import Version
from tonnage.kept import kept
from tonnage.layout.shard import pad_expert
from tonnage.model.dtypes import element_bytes
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.quantization.formats import stored_bytes
from tonnage.units import ceil_div

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.layout.parts import Piece
    from tonnage.layout.shard import Shard
    from tonnage.memory.weights import Store
    from tonnage.model.arch import Arch

# Inner and hidden width of MXFP4 experts are rounded up to (SGLang `layers/quantization/mxfp4.py`).
MXFP4_BLACKWELL = (256, 256)  # the FlashInfer kernels of data-centre Blackwell
MXFP4_ROCM = (256, 256)
MXFP4_TRITON = (64, 1)
BLACKWELL = "sm_10"
# ROCm's path for packed integers in experts keeps two int32 per input feature of each merged matrix: group index and
# sorting order, which the path for CUDA drops (SGLang `compressed_tensors_wNa16_moe.py`).
INDEX_BYTES = 2 * 4
# DeepSeek V4 on Hopper: the Marlin path kept the scales as loaded, in 32 bit, beside its own
# (SGLang `layers/quantization/mxfp4_marlin_moe.py`); newer ones load them as bytes.
FIRST_WITH_BYTE_SCALES = Version(0, 5, 20)
LOADED_SCALE_BYTES, SCALED_VALUES = 4, 32
HOPPER = "sm_9"
STORES_KEPT = 64  # cards and types of one batch
FULL_PRECISION, HALF = ("float32", "float"), "float16"


def compute_dtype(checkpoint_dtype: str) -> str:
    """The type a checkpoint runs in: those in 32 bit are cast to half (SGLang `configs/model_config.py`)."""
    name = checkpoint_dtype.removeprefix("torch.")
    return HALF if name in FULL_PRECISION else name


def keeps_loaded_scales(version: Version, card: Accelerator, arch: Arch) -> bool:
    """Whether MXFP4 experts hold their scales twice."""
    is_affected = version < FIRST_WITH_BYTE_SCALES and (card.target or "").startswith(HOPPER)
    return is_affected and arch.has_mixer(Compressed)


@kept(STORES_KEPT)
def make_store(card: Accelerator, dtype: str, keeps_scales: bool) -> Store:
    """Gives the bytes of a shard; the same function for the same card and types, so that sizes are computed once."""

    def stored(piece: Piece, shard: Shard) -> int:
        return stored_on(card, piece, shard, dtype, keeps_scales)

    return stored


def stored_on(card: Accelerator, piece: Piece, shard: Shard, dtype: str, keeps_scales: bool = False) -> int:
    """Bytes of all copies of `shard`; `dtype` is the type of tensors that are not quantised.

    `keeps_scales` adds the scales of MXFP4 experts a second time, as they were loaded.
    """
    form, tensor = piece.format, piece.tensor
    if form is None:
        return shard.params * element_bytes(tensor.dtype or dtype)
    if form.name.startswith("mxfp4") and tensor.is_expert:
        shard = pad_mxfp4(card, piece, shard)
    size = stored_bytes(form, shard.rows, shard.cols)
    if card.vendor == "amd" and tensor.is_expert and form.name.startswith("pack-int"):
        # Gate and up are one matrix and share the index.
        size += shard.cols * INDEX_BYTES // (2 if tensor.fused else 1)
    if keeps_scales and tensor.is_expert and form.name.startswith("mxfp4"):
        size += shard.rows * ceil_div(shard.cols, SCALED_VALUES) * LOADED_SCALE_BYTES
    return shard.copies * size


def pad_mxfp4(card: Accelerator, piece: Piece, shard: Shard) -> Shard:
    """The shard of an MXFP4 expert, padded for the card's kernel."""
    return pad_expert(piece.tensor, shard, *_multiples(card))


def _multiples(card: Accelerator) -> tuple[int, int]:
    if card.vendor == "amd":
        return MXFP4_ROCM
    return MXFP4_BLACKWELL if (card.target or "").startswith(BLACKWELL) else MXFP4_TRITON
