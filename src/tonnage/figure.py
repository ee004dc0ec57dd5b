"""A number with its origin: lines of the ledger and bands."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Basis = Literal["measured", "datasheet", "derived", "assumed"]
    LineName = Literal[
        "weights", "kv_cache", "activations", "cuda_graphs", "communication", "context", "draft", "multimodal", "other"
    ]


@value
class Line:
    """One line of a ledger: expected bytes of one rank, their band, basis and the formula that gave them."""

    name: LineName
    bytes: int
    low: int
    high: int
    basis: Basis
    trace: str = ""


def banded(name: LineName, size: int, band: tuple[float, float], basis: Basis, trace: str) -> Line:
    """A line whose low and high are parts of its size."""
    low, high = band
    return Line(name, size, int(size * low), int(size * high), basis, trace)


def exact(name: LineName, size: int, trace: str, basis: Basis = "derived") -> Line:
    """A line whose band is a single value."""
    return Line(name, size, size, size, basis, trace)
