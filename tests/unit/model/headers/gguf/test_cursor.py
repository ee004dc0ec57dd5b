"""Reading position in a file."""

from __future__ import annotations

from struct import Struct, pack

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.blob import Blob
from tonnage.model.headers.gguf.cursor import MAX_HEADER_BYTES, WINDOW_BYTES, Cursor


class Recorder:
    """A file that remembers how it was read; beyond `data` it is zeros up to `size`."""

    def __init__(self, data: bytes, size: int | None = None) -> None:
        self.data, self.size = data, len(data) if size is None else size
        self.reads: list[tuple[int, int]] = []

    def read(self, start: int, count: int) -> bytes:
        self.reads.append((start, count))
        return self.data[start : start + count].ljust(min(count, self.size - start), b"\0")

    def cursor(self) -> Cursor:
        return Cursor(Blob("m.gguf", self.size, self.read))


def test_numbers_and_bytes_come_in_sequence() -> None:
    file = Recorder(pack("<IQ", 7, 9) + b"abc")
    cursor = file.cursor()
    assert cursor.number(Struct("<I")) == 7
    assert cursor.number(Struct("<Q")) == 9
    assert cursor.bytes(3) == b"abc"
    assert (cursor.position, cursor.left) == (15, 0)
    assert file.reads == [(0, 15)]


def test_windows_grow_and_skipped_bytes_are_not_read() -> None:
    file = Recorder(b"", 10 * WINDOW_BYTES)
    cursor = file.cursor()
    cursor.bytes(4)
    cursor.skip(5 * WINDOW_BYTES)
    cursor.bytes(4)
    assert file.reads == [(0, WINDOW_BYTES), (5 * WINDOW_BYTES + 4, 2 * WINDOW_BYTES)]


def test_strings_are_passed_over_across_windows() -> None:
    strings = [bytes(length) for length in (0, 5, 2 * WINDOW_BYTES, 1, 3)] * 3
    file = Recorder(b"".join(pack("<Q", len(text)) + text for text in strings) + b"end")
    cursor = file.cursor()
    cursor.skip_strings(len(strings))
    assert cursor.bytes(3) == b"end"


def test_nothing_beyond_the_end_is_read() -> None:
    cursor = Recorder(bytes(8)).cursor()
    with pytest.raises(UnreadableError, match="9 bytes announced at byte 0: at most the 8 bytes"):
        cursor.bytes(9)
    with pytest.raises(UnreadableError, match="9 bytes announced"):
        cursor.skip(9)
    with pytest.raises(UnreadableError):
        cursor.skip_strings(2)


def test_a_string_longer_than_the_file_is_refused_while_skipping() -> None:
    with pytest.raises(UnreadableError, match=f"{2**64 - 1 + 8} bytes announced"):
        Recorder(pack("<Q", 2**64 - 1) + bytes(8)).cursor().skip_strings(1)


def test_counts_are_compared_with_what_is_left() -> None:
    cursor = Recorder(pack("<Q", 3) + bytes(24)).cursor()
    assert cursor.count("things", 8) == 3
    with pytest.raises(UnreadableError, match="3 things: what fits in the 24 bytes"):
        Recorder(pack("<Q", 3) + bytes(24)).cursor().count("things", 9)


def test_a_header_ends_at_the_limit_however_large_the_file() -> None:
    cursor = Recorder(b"", 10 * MAX_HEADER_BYTES).cursor()
    assert cursor.left == MAX_HEADER_BYTES
    cursor.skip(MAX_HEADER_BYTES)
    with pytest.raises(UnreadableError, match="1 bytes announced"):
        cursor.bytes(1)
