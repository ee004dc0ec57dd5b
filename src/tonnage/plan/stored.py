"""Bytes of a whole checkpoint as its architecture implies them."""

from __future__ import annotations

from tonnage.kept import kept
from tonnage.model.dtypes import element_bytes
from tonnage.model.params import count_params
from tonnage.model.quantization.formats import stored_bytes
from tonnage.tally import tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.layout.parts import Parts, Piece
    from tonnage.model.params import Params

MODELS_KEPT = 256  # of a long batch


@kept(MODELS_KEPT)
def params_of(parts: Parts) -> Params:
    """Parameter counts of a model, kept because its record and its reasons ask for them."""
    return count_params(parts.arch)


@kept(MODELS_KEPT)
def stored_size(parts: Parts) -> int:
    """Bytes of all tensors as published, draft layers and stored duplicates included."""
    times = tally(parts.class_of)
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
