"""How a safetensors checkpoint stores each matrix, from its headers alone, as rules over module names."""

from __future__ import annotations

from tonnage.model.headers.packing import count_values
from tonnage.model.quantization.formats import BYTE_BITS, ceil_div
from tonnage.model.quantization.names import compact
from tonnage.model.quantization.scheme import Format, Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tonnage.model.headers.entry import TensorEntry

# The method that holds matrices of any format.
ANY_FORMAT = "compressed-tensors"
FLOATS = ("BF16", "F16", "F32", "F64")
# Endings of what holds a matrix, and of what holds its scales.
WEIGHTS = (".weight", ".weight_packed", ".qweight", "_blocks")
SCALES = (".weight_scale_inv", ".weight_scale", ".scales", ".scale", "_scales")
ZEROS = (".qzeros", ".weight_zero_point")


def header_scheme(entries: Iterable[TensorEntry], method: str = ANY_FORMAT) -> Scheme:
    """Rules that give every quantised matrix the bits and scales its headers show; all others are 16-bit floats.

    `method` is what the configuration calls it, if it says.
    """
    known = {entry.name: entry for entry in entries}
    found: dict[Format, list[str]] = {}
    for name, entry in known.items():
        ending = next((ending for ending in WEIGHTS if name.endswith(ending)), None)
        if ending is None or entry.dtype in FLOATS or len(entry.shape) < 2:
            continue
        module = name.removesuffix(ending)
        found.setdefault(_format(module, entry, known), []).append(module)
    rules = tuple(Rule("", form, compact(modules)) for form, modules in found.items())
    return Scheme(method, (*rules, Rule("", None)), source="the headers of the checkpoint")


def _format(module: str, entry: TensorEntry, known: Mapping[str, TensorEntry]) -> Format:
    """Bits per value, and tiles as wide as the number of scales says."""
    values = count_values(entry, known) or entry.elements
    bits = max(1, entry.stored_bytes * BYTE_BITS // values)
    scale, zero = _sibling(module, SCALES, known), _sibling(module, ZEROS, known)
    if scale is None or not scale.elements:
        return Format(f"headers-{bits}bit", bits)
    size = scale.stored_bytes // scale.elements
    rows, cols = _tile(entry.shape[-2], values // max(1, entry.elements // entry.shape[-1]), scale)
    zero_bits = zero.stored_bytes * BYTE_BITS // scale.elements if zero else 0
    return Format(f"headers-{bits}bit-{rows}x{cols}", bits, rows, cols, size, zero_bits)


def _sibling(module: str, endings: tuple[str, ...], known: Mapping[str, TensorEntry]) -> TensorEntry | None:
    return next((known[module + ending] for ending in endings if module + ending in known), None)


def _tile(rows: int, cols: int, scale: TensorEntry) -> tuple[int, int]:
    """Rows and columns that share a scale, 0 for the whole axis."""
    shape = [size for size in scale.shape if size > 1]
    if not shape:
        return 0, 0
    if len(shape) == 1:
        return 1, 0
    return _step(rows, shape[-2]), _step(cols, shape[-1])


def _step(size: int, tiles: int) -> int:
    """The width of a tile; tiles that do not divide the axis are a power of two wide."""
    width = ceil_div(size, max(1, tiles))
    return width if width * tiles == size else 1 << (width - 1).bit_length()
