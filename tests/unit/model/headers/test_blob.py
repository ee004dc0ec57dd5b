"""Ranges of a file."""

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.blob import Blob


def test_take_returns_the_range() -> None:
    data = bytes(range(10))
    assert Blob("f", 10, lambda start, count: data[start : start + count]).take(3, 4) == bytes([3, 4, 5, 6])


def test_take_beyond_the_end_is_refused_before_reading() -> None:
    def refuse(start: int, count: int) -> bytes:
        raise AssertionError(f"read {count} bytes at {start}")

    with pytest.raises(UnreadableError, match="ends at byte 10: at least 11 bytes"):
        Blob("f", 10, refuse).take(3, 8)


def test_a_short_read_is_refused() -> None:
    with pytest.raises(UnreadableError, match="2 bytes read at 0: 10 bytes"):
        Blob("f", 10, lambda start, count: bytes(count)[start : start + 2]).take(0, 10)
