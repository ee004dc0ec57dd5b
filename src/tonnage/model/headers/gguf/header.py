"""Header of one GGUF file: metadata, then the list of tensors."""

from __future__ import annotations

from math import prod
from struct import Struct

from tonnage.errors import UnreadableError
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.extent import Extent, check_extents
from tonnage.model.headers.gguf.cursor import Cursor
from tonnage.model.headers.gguf.dtype import find_type
from tonnage.model.headers.gguf.value import KIND_BYTES, LENGTH_BYTES, ValueReader
from tonnage.model.headers.quote import quote
from tonnage.units import round_up
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.headers.blob import Blob
    from tonnage.model.headers.gguf.cursor import Order
    from tonnage.model.headers.gguf.dtype import GgmlType
    from tonnage.model.headers.gguf.value import Value

    Metadata = dict[str, Value]

# Source of the layout and of the limits: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md and gguf.cpp there.
MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_AXES = 4
MAX_AXIS = 2**63 - 1
MAX_KEY_BYTES = 65535
MAX_NAME_BYTES = 1024  # ggml itself keeps 64
MAX_KEYS = 65536
MAX_TENSORS = 131072  # unmerged experts of the largest models are far below
ALIGNMENT_KEY = "general.alignment"
DEFAULT_ALIGNMENT = 32
MAX_ALIGNMENT = 2**20
FIXED_BYTES = 24  # magic, version and the two counts


@value
class GgufHeader:
    """What a GGUF file says before its data. `data_start` is the byte where tensor data begins."""

    version: int
    order: Order
    metadata: Metadata
    entries: tuple[TensorEntry, ...]
    data_start: int


@value
class _Placed:
    name: str
    type: GgmlType
    axes: tuple[int, ...]
    offset: int


def read_header(blob: Blob) -> GgufHeader:
    """The header of a GGUF file, version 2 or 3, either byte order; tensor data is not read.

    `UnreadableError` for anything that cannot be: truncated files, counts and lengths beyond the file, unknown types,
    names given twice, rows that are no whole blocks, tensors that overlap or end beyond the file.
    """
    version, order = _version(blob.take(0, min(blob.size, FIXED_BYTES)), blob.name)
    cursor = Cursor(blob, order)
    cursor.skip(len(MAGIC) + KIND_BYTES)
    tensors = cursor.count("tensors", LENGTH_BYTES)
    keys = cursor.count("metadata keys", LENGTH_BYTES)
    if tensors > MAX_TENSORS or keys > MAX_KEYS:
        seen = f"{tensors} tensors and {keys} keys"
        raise UnreadableError(blob.name, seen, f"at most {MAX_TENSORS} and {MAX_KEYS}")
    reader = ValueReader(cursor)
    metadata = _metadata(reader, keys, blob.name)
    placed = _tensors(cursor, reader, tensors)
    data_start = round_up(cursor.position, _alignment(metadata, blob.name))
    return GgufHeader(version, order, metadata, _entries(placed, blob, data_start), data_start)


def _version(start: bytes, file: str) -> tuple[int, Order]:
    if len(start) < FIXED_BYTES or not start.startswith(MAGIC):
        raise UnreadableError(file, f"starts with {quote(start[: len(MAGIC)])}", "a GGUF file")
    field = start[len(MAGIC) : len(MAGIC) + KIND_BYTES]
    version, swapped = int.from_bytes(field, "little"), int.from_bytes(field, "big")
    if version in VERSIONS:
        return version, "<"
    if swapped in VERSIONS:  # the version field is what tells a big-endian file
        return swapped, ">"
    raise UnreadableError(file, f"GGUF version {version}", "version 2 or 3")


def _metadata(reader: ValueReader, count: int, file: str) -> Metadata:
    metadata: Metadata = {}
    for _ in range(count):
        key = reader.text(MAX_KEY_BYTES)
        if key in metadata:
            raise UnreadableError(f"{file}: key {quote(key)}", "given twice", "unique keys")
        metadata[key] = reader.value()
    return metadata


def _tensors(cursor: Cursor, reader: ValueReader, count: int) -> dict[str, _Placed]:
    tensors: dict[str, _Placed] = {}
    kind, size = Struct(f"{cursor.order}I"), Struct(f"{cursor.order}Q")
    for _ in range(count):
        name = reader.text(MAX_NAME_BYTES)
        thing = f"{cursor.blob.name}: tensor {quote(name)}"
        if name in tensors:
            raise UnreadableError(thing, "listed twice", "unique names")
        axes = tuple(int(cursor.number(size)) for _ in range(_num_axes(int(cursor.number(kind)), thing)))
        number, offset = int(cursor.number(kind)), int(cursor.number(size))
        tensors[name] = _Placed(name, _type(number, axes, thing), axes, offset)
    return tensors


def _num_axes(count: int, thing: str) -> int:
    if count > MAX_AXES:
        raise UnreadableError(thing, f"{count} axes", f"at most {MAX_AXES}")
    return count


def _type(number: int, axes: tuple[int, ...], thing: str) -> GgmlType:
    ggml = find_type(number)
    if ggml is None:
        raise UnreadableError(thing, f"ggml type {number}", "a type that llama.cpp or ik_llama.cpp knows")
    if prod(axes) > MAX_AXIS or (axes and axes[0] % ggml.block):
        raise UnreadableError(thing, f"shape {quote(axes)}", f"rows of whole {ggml.name} blocks of {ggml.block}")
    return ggml


def _alignment(metadata: Metadata, file: str) -> int:
    alignment = metadata.get(ALIGNMENT_KEY, DEFAULT_ALIGNMENT)
    if type(alignment) is not int or not 0 < alignment <= MAX_ALIGNMENT or alignment & (alignment - 1):
        raise UnreadableError(f"{file}: {ALIGNMENT_KEY}", quote(alignment), "a power of two")
    return alignment


def _entries(tensors: dict[str, _Placed], blob: Blob, data_start: int) -> tuple[TensorEntry, ...]:
    data_bytes = max(0, blob.size - data_start)
    ordered = sorted(tensors.values(), key=lambda tensor: tensor.offset)
    ends = [tensor.offset for tensor in ordered[1:]] + [data_bytes]
    sizes = [_stored_bytes(tensor, end) for tensor, end in zip(ordered, ends, strict=False)]
    extents = [
        Extent(tensor.offset, tensor.offset + size, tensor.name) for tensor, size in zip(ordered, sizes, strict=True)
    ]
    check_extents(extents, data_bytes, blob.name)
    # ggml names the fastest axis first
    return tuple(
        TensorEntry(tensor.name, tensor.type.name, tensor.axes[::-1], size)
        for tensor, size in zip(ordered, sizes, strict=True)
    )


def _stored_bytes(tensor: _Placed, end: int) -> int:
    blocks = prod(tensor.axes) // tensor.type.block * tensor.type.size
    return max(blocks, end - tensor.offset) if tensor.type.has_row_data else blocks
