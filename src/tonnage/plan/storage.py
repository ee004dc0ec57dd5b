"""In how many bits a model's matrices are stored, in words."""

from __future__ import annotations

from tonnage.model.dtypes import element_bytes
from tonnage.tally import tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.layout.parts import Parts, Piece

_PERCENT = 100
_LEAST_PERCENT = 1  # a norm or a router in another type is no mixed format


def stored_bits(parts: Parts) -> list[int]:
    """The widths in which the matrices of the layers are stored, narrowest first."""
    return _large(_sum(_sizes(parts, is_expert=True), _sizes(parts, is_expert=False)))


def storage_words(parts: Parts) -> str:
    """How the matrices of the layers are stored: `in 16 bits`, `in 4 bits (experts) and 16 bits (all else)`.

    Embedding, head and what is no matrix are left out, and so is what holds less than one parameter in a hundred.
    """
    experts, rest = _sizes(parts, is_expert=True), _sizes(parts, is_expert=False)
    shares = _sum(experts, rest)
    kinds = _large(shares)
    if len(kinds) < 2:
        return f"in {kinds[0]} bits" if kinds else "in no matrices"
    if len(_large(experts)) == 1 and len(_large(rest)) == 1:
        return f"in {_large(experts)[0]} bits (experts) and {_large(rest)[0]} bits (all else)"
    words = [f"{bits} bits ({round(shares[bits] * _PERCENT / sum(shares.values()))} %)" for bits in kinds]
    return f"in {', '.join(words[:-1])} and {words[-1]}"


def _large(sizes: dict[int, int]) -> list[int]:
    """The widths that matter, narrowest first."""
    least = sum(sizes.values()) * _LEAST_PERCENT
    return sorted(bits for bits, size in sizes.items() if size * _PERCENT >= least)


def _sum(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    return {bits: one.get(bits, 0) + other.get(bits, 0) for bits in {**one, **other}}


def _sizes(parts: Parts, is_expert: bool) -> dict[int, int]:
    """Parameters by bits of an element."""
    sizes: dict[int, int] = {}
    for number, times in tally(parts.class_of).items():
        for piece in _matrices(parts.classes[number]):
            if piece.tensor.is_expert == is_expert:
                bits = piece.format.bits if piece.format else 8 * element_bytes(piece.tensor.dtype or parts.arch.dtype)
                sizes[bits] = sizes.get(bits, 0) + times * piece.tensor.params
    return sizes


def _matrices(pieces: tuple[Piece, ...]) -> Iterator[Piece]:
    return (piece for piece in pieces if piece.tensor.kind == "linear")
