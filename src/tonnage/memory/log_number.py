"""Numbers in a log, which may be words, damaged, or absurd."""

from __future__ import annotations

BEYOND = 1 << 62  # no size, length or count comes near
MOST_CHARACTERS = 40


def whole_number(text: str) -> int | None:
    """The whole number a text is; None for words in its place and for what is beyond any size."""
    try:
        value = int(text[:MOST_CHARACTERS])
    except ValueError:
        return None
    return value if abs(value) < BEYOND else None


def plain_number(text: str) -> float | None:
    """The finite number a text is; None for words in its place and for what is beyond any size."""
    try:
        value = float(text[:MOST_CHARACTERS])
    except ValueError:
        return None
    return value if abs(value) < BEYOND else None
