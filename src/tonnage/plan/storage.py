"""In how many bits a model's matrices are stored, in words."""

from __future__ import annotations

from collections import Counter

from tonnage.model.dtypes import element_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.layout.parts import Parts, Piece

_PERCENT = 100
_LEAST_PERCENT = 1  # a norm or a router in another type is no mixed format


def stored_bits(parts: Parts) -> list[int]:
    """The widths in which the matrices of the layers are stored, narrowest first."""
    return _large(_sizes(parts, is_expert=True) + _sizes(parts, is_expert=False))


def storage_words(parts: Parts) -> str:
    """How the matrices of the layers are stored: `in 16 bits`, `in 4 bits (experts) and 16 bits (all else)`.

    Embedding, head and what is no matrix are left out, and so is what holds less than one parameter in a hundred.
    """
    experts, rest = _sizes(parts, is_expert=True), _sizes(parts, is_expert=False)
    kinds = _large(experts + rest)
    if len(kinds) < 2:
        return f"in {kinds[0]} bits" if kinds else "in no matrices"
    if len(_large(experts)) == 1 and len(_large(rest)) == 1:
        return f"in {_large(experts)[0]} bits (experts) and {_large(rest)[0]} bits (all else)"
    shares = experts + rest
    words = [f"{bits} bits ({round(shares[bits] * _PERCENT / shares.total())} %)" for bits in kinds]
    return f"in {', '.join(words[:-1])} and {words[-1]}"


def _large(sizes: Counter[int]) -> list[int]:
    """The widths that matter, narrowest first."""
    return sorted(bits for bits, size in sizes.items() if size * _PERCENT >= sizes.total() * _LEAST_PERCENT)


def _sizes(parts: Parts, is_expert: bool) -> Counter[int]:
    """Parameters by bits of an element."""
    sizes: Counter[int] = Counter()
    for number, times in Counter(parts.class_of).items():
        for piece in _matrices(parts.classes[number]):
            if piece.tensor.is_expert == is_expert:
                bits = piece.format.bits if piece.format else 8 * element_bytes(piece.tensor.dtype or parts.arch.dtype)
                sizes[bits] += times * piece.tensor.params
    return sizes


def _matrices(pieces: tuple[Piece, ...]) -> Iterator[Piece]:
    return (piece for piece in pieces if piece.tensor.kind == "linear")
