"""How often each of some items occurs.

Like `collections.Counter`; `collections` is one of the imports that a single question cannot afford.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import TypeVar

    T = TypeVar("T", bound=Hashable)


def tally(items: Iterable[T]) -> dict[T, int]:
    """The number of times each item occurs, in order of first appearance."""
    counts: dict[T, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts
