"""Bytes of a whole checkpoint as its architecture implies them."""

from __future__ import annotations

from collections import Counter

from tonnage.model.dtypes import element_bytes
from tonnage.model.quantization.formats import stored_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.layout.parts import Parts, Piece


def stored_size(parts: Parts) -> int:
    """Bytes of all tensors as published, draft layers and stored duplicates included."""
    times = Counter(parts.class_of)
    dtype = parts.arch.dtype
    layers = sum(count * _size(parts.classes[number], dtype) for number, count in times.items())
    around = sum(
        _size(pieces, dtype) for pieces in (parts.towers, parts.first, parts.last, parts.embedding, parts.draft)
    )
    return layers + around + parts.arch.duplicates * element_bytes(dtype)


def _size(pieces: Iterable[Piece], dtype: str) -> int:
    return sum(_piece(piece, dtype) for piece in pieces)


def _piece(piece: Piece, dtype: str) -> int:
    tensor, form = piece.tensor, piece.format
    if form is None:
        return tensor.rows * tensor.cols * tensor.copies * element_bytes(tensor.dtype or dtype)
    return tensor.copies * stored_bytes(form, tensor.rows, tensor.cols)
