"""How many weights a stored tensor holds, where several are packed into one stored element."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.model.headers.entry import TensorEntry

# A block scale of these types belongs to four-bit weights, two in a byte: NVFP4 has F8_E4M3 scales, MXFP4 has E8M0
# ones, stored as F8_E8M0 or as plain bytes. Eight-bit integers have float scales.
_FP4_SCALES = ("F8_E4M3", "F8_E8M0", "U8")
_PER_BYTE = 2
_WORD_BITS = 32
_BYTES = ("U8", "I8")
_WORDS = ("I32", "U32")


def is_packed(entry: TensorEntry, known: Mapping[str, TensorEntry]) -> bool:
    """Whether `entry` packs several weights into one element; `known` are all tensors of the checkpoint by name."""
    if entry.dtype in _WORDS:
        return entry.name.endswith((".qweight", ".weight_packed"))
    return entry.dtype in _BYTES and _holds_fp4(entry, known)


def count_values(entry: TensorEntry, known: Mapping[str, TensorEntry], packed_bits: int | None = None) -> int | None:
    """Weights in `entry`; None if it is packed and neither `packed_bits` nor the tensors beside it tell how.

    `packed_bits` is the width that the quantisation configuration gives for weights packed into 32-bit words.
    """
    if not is_packed(entry, known):
        return entry.elements
    if entry.dtype in _BYTES:
        return entry.elements * _PER_BYTE
    if packed_bits is not None:
        return entry.elements * _WORD_BITS // packed_bits
    return _count_words(entry, known)


def _holds_fp4(entry: TensorEntry, known: Mapping[str, TensorEntry]) -> bool:
    name = entry.name
    if name.endswith("_blocks"):
        return f"{name.removesuffix('_blocks')}_scales" in known
    if name.endswith(".weight_packed") or f"{name}.absmax" in known:
        return entry.dtype == "U8"
    scale = known.get(f"{name}_scale") or known.get(f"{name.removesuffix('.weight')}.scale")
    return scale is not None and scale.dtype in _FP4_SCALES and _is_per_block(scale, entry)


def _is_per_block(scale: TensorEntry, weight: TensorEntry) -> bool:
    return len(scale.shape) == len(weight.shape) >= 2 and scale.shape[:-1] == weight.shape[:-1]


def _count_words(entry: TensorEntry, known: Mapping[str, TensorEntry]) -> int | None:
    stem = entry.name.removesuffix(".qweight")
    if len(entry.shape) != 2 or stem == entry.name:
        return None
    inputs, scales = known.get(f"{stem}.g_idx"), known.get(f"{stem}.scales")
    if inputs is not None:  # GPTQ packs along the input, and its permutation has one entry per input
        return inputs.elements * entry.shape[1]
    if scales is not None and len(scales.shape) == 2 and scales.shape[1] != entry.shape[1]:
        return entry.shape[0] * scales.shape[1]  # AWQ packs along the output, which its scales do not
    return None
