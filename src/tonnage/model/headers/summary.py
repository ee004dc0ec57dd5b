"""Totals of a checkpoint by type and by part."""

from __future__ import annotations

from tonnage.model.headers.packing import count_values, is_packed
from tonnage.model.headers.part import classify
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.model.headers.entry import TensorEntry
    from tonnage.model.headers.part import Part


@value
class Total:
    """A sum over tensors. `packed_bytes` of `stored_bytes` hold several weights per stored element.

    `parameters` counts weights, not stored elements, and no scales; None where a packed tensor's width is unknown.
    """

    tensors: int
    stored_bytes: int
    packed_bytes: int
    parameters: int | None


@value
class Summary:
    """Totals of one checkpoint: everything, by stored type, by part. Scales are a part of their own."""

    total: Total
    by_dtype: dict[str, Total]
    by_part: dict[Part, Total]


@value
class _Item:
    entry: TensorEntry
    part: Part
    is_packed: bool
    values: int | None


def summarise(entries: Iterable[TensorEntry], packed_bits: int | None = None) -> Summary:
    """Totals over all tensors of a checkpoint.

    `packed_bits` is the width of weights packed into 32-bit words as the quantisation configuration gives it; without
    it the counts of such tensors are None unless the tensors beside them tell.
    """
    known = {entry.name: entry for entry in entries}
    parts = classify(known)
    items = [_item(entry, parts[entry.name], known, packed_bits) for entry in known.values()]
    return Summary(
        _add(items),
        {dtype: _add(item for item in items if item.entry.dtype == dtype) for dtype in _seen(known)},
        {part: _add(item for item in items if item.part == part) for part in sorted(set(parts.values()))},
    )


def _seen(known: dict[str, TensorEntry]) -> list[str]:
    return sorted({entry.dtype for entry in known.values()})


def _item(entry: TensorEntry, part: Part, known: dict[str, TensorEntry], packed_bits: int | None) -> _Item:
    if part == "scales":
        return _Item(entry, part, False, 0)
    return _Item(entry, part, is_packed(entry, known), count_values(entry, known, packed_bits))


def _add(items: Iterable[_Item]) -> Total:
    tensors = stored_bytes = packed_bytes = 0
    parameters: int | None = 0
    for item in items:
        tensors += 1
        stored_bytes += item.entry.stored_bytes
        packed_bytes += item.entry.stored_bytes if item.is_packed else 0
        parameters = None if parameters is None or item.values is None else parameters + item.values
    return Total(tensors, stored_bytes, packed_bytes, parameters)
