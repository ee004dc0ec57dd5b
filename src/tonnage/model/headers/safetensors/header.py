"""Header of one safetensors file: eight bytes of length, then JSON with one object per tensor."""

from __future__ import annotations

from math import prod

from tonnage.errors import UnreadableError
from tonnage.model.document import load_json
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.extent import Extent, check_gapless
from tonnage.model.headers.quote import quote
from tonnage.model.headers.safetensors.dtype import BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, TypeGuard

    from tonnage.model.document import Pairs
    from tonnage.model.headers.blob import Blob

    _Tensor = tuple[str, list[int], list[int]]

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000  # the reference implementation refuses longer headers
FIRST_READ_BYTES = 128 * 1024  # holds most headers whole, so that a remote file costs one request
METADATA_KEY = "__metadata__"
MAX_AXES = 32
MAX_AXIS = 2**63 - 1

# A header may hold this much beside its tensors (free text in __metadata__); without the bound 100 MB of "[],"
# would become gigabytes of empty lists.
SPARE_MARKS = 2**20
COMMAS_PER_TENSOR = 16
BRACKETS_PER_TENSOR = 4


class _Object(list[tuple[str, object]]):
    """A JSON object that is no tensor: its pairs, duplicates kept."""


def read_header(blob: Blob) -> tuple[TensorEntry, ...]:
    """The tensors of a safetensors file in file order; reads only its header. `UnreadableError` if anything is off."""
    first = blob.take(0, min(blob.size, FIRST_READ_BYTES))
    length = _header_bytes(first[:LENGTH_BYTES], blob)
    end = LENGTH_BYTES + length
    header = first[LENGTH_BYTES:end]
    if end > len(first):
        header += blob.take(len(first), end - len(first))
    return parse_header(header, blob.size - end, blob.name)


def parse_header(header: bytes, data_bytes: int, file: str) -> tuple[TensorEntry, ...]:
    """The tensors that the JSON text `header` of `file` lists, in the order of their data.

    `data_bytes` follow the header and must be covered exactly. Refused: unknown types, negative or non-integer
    shapes, sizes that do not match shape and type, names given twice, overlaps, holes and data beyond the file.
    """
    _check_marks(header, file)
    tensors = _tensors(load_json(header, f"{file}: header", _shrink), file)
    extents = [Extent(offsets[0], offsets[1], name) for name, (_, _, offsets) in tensors.items()]
    check_gapless(extents, data_bytes, file)
    extents.sort(key=Extent.place)
    return tuple(_entry(extent, tensors[extent.name]) for extent in extents)


def _header_bytes(prefix: bytes, blob: Blob) -> int:
    if len(prefix) < LENGTH_BYTES:
        raise UnreadableError(blob.name, f"{blob.size} bytes", "a safetensors file, which has 8 bytes of length first")
    length = int.from_bytes(prefix, "little")
    if length > MAX_HEADER_BYTES:
        raise UnreadableError(blob.name, f"header of {length} bytes", f"at most {MAX_HEADER_BYTES}")
    if length > blob.size - LENGTH_BYTES:
        raise UnreadableError(blob.name, f"header of {length} bytes in a file of {blob.size}", "a complete file")
    return length


def _check_marks(header: bytes, file: str) -> None:
    tensors = header.count(b'"data_offsets"')
    commas, brackets = header.count(b","), header.count(b"[") + header.count(b"{")
    if commas > SPARE_MARKS + COMMAS_PER_TENSOR * tensors or brackets > SPARE_MARKS + BRACKETS_PER_TENSOR * tensors:
        raise UnreadableError(f"{file}: header", f"{commas} commas for {tensors} tensors", "a list of tensors")


def _shrink(pairs: Pairs) -> object:
    # Tensors become plain tuples at once: a million dictionaries would take twice the memory.
    fields = dict(pairs)
    if "dtype" in fields and "shape" in fields and "data_offsets" in fields:
        return fields["dtype"], fields["shape"], fields["data_offsets"]
    return _Object(pairs)


def _tensors(pairs: object, file: str) -> dict[str, _Tensor]:
    if not isinstance(pairs, _Object):
        raise UnreadableError(f"{file}: header", "not a JSON object", "an object with one entry per tensor")
    tensors: dict[str, _Tensor] = {}
    for name, raw in pairs:
        if name in tensors:
            raise UnreadableError(f"{file}: tensor {quote(name)}", "listed twice", "unique names")
        if name == METADATA_KEY:
            _check_metadata(raw, file)
        else:
            tensors[name] = raw if _is_tensor(raw) else _refuse(raw, f"{file}: tensor {quote(name)}")
    return tensors


def _check_metadata(raw: object, file: str) -> None:
    if not isinstance(raw, _Object) or not all(isinstance(value, str) for _, value in raw):
        raise UnreadableError(f"{file}: {METADATA_KEY}", quote(raw), "an object of strings")


def _is_tensor(raw: object) -> TypeGuard[_Tensor]:
    if not isinstance(raw, tuple):
        return False
    dtype, shape, offsets = raw
    if not isinstance(dtype, str) or dtype not in BITS or not _is_counts(shape) or not _is_counts(offsets):
        return False
    return _is_sized(dtype, shape, offsets)


def _is_sized(dtype: str, shape: list[int], offsets: list[int]) -> bool:
    if len(offsets) != 2 or len(shape) > MAX_AXES:
        return False
    return prod(shape) * BITS[dtype] == 8 * (offsets[1] - offsets[0])


def _refuse(raw: object, thing: str) -> NoReturn:
    """Say what is wrong with a value that `_is_tensor` does not take; apart, because a million others are right."""
    if not isinstance(raw, tuple):
        raise UnreadableError(thing, quote(raw), "an object with dtype, shape and data_offsets")
    dtype, shape, offsets = raw
    if not isinstance(dtype, str) or dtype not in BITS:
        raise UnreadableError(f"{thing}: dtype", quote(dtype), f"one of {', '.join(BITS)}")
    if not _is_counts(shape) or len(shape) > MAX_AXES:
        raise UnreadableError(f"{thing}: shape", quote(shape), "a list of sizes from 0")
    if not _is_counts(offsets) or len(offsets) != 2:
        raise UnreadableError(f"{thing}: data_offsets", quote(offsets), "[begin, end]")
    raise UnreadableError(thing, f"data_offsets {quote(offsets)}", f"the size of {dtype} {quote(shape)}")


def _is_counts(value: object) -> TypeGuard[list[int]]:
    # type() and not isinstance(): true and false are no sizes
    return isinstance(value, list) and all(type(item) is int and 0 <= item <= MAX_AXIS for item in value)


def _entry(extent: Extent, tensor: _Tensor) -> TensorEntry:
    dtype, shape, _ = tensor
    return TensorEntry(extent.name, dtype, tuple(shape), extent.end - extent.begin)
