"""The largest number that still fits."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def find_largest(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest whole number up to `limit` that `fits`, by halving; 0 is taken to fit, unasked.

    What is larger than a number that does not fit must not fit either.
    """
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
