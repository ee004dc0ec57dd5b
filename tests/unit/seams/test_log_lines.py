"""Lines of log files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from tonnage.errors import UnreadableError
from tonnage.seams.log_lines import LONGEST_LINE, read_lines


def lines(path: Path, data: bytes) -> list[str]:
    """The lines of a file with this content."""
    path.write_bytes(data)
    return list(read_lines(str(path)))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\rc\n", ["a", "b", "c"]),  # progress bars return the carriage
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("a\nb\n".encode("utf-16"), ["a", "b"]),  # PowerShell's redirection
        (b"a\xff\x00\n", ["a\ufffd\0"]),
    ],
)
def test_encodings_and_ends(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    assert lines(tmp_path / "log", data) == expected


def test_a_line_without_end_comes_in_pieces(tmp_path: Path) -> None:
    found = lines(tmp_path / "log", b"x" * (2 * LONGEST_LINE + 1))
    assert [len(line) for line in found] == [LONGEST_LINE, LONGEST_LINE, 1]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789" * 10 + b"\n" + (b"y" * 99 + b"\n") * 200_000)  # 20 MB
    tracemalloc.start()
    count = sum(1 for _ in read_lines(str(path)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 200_001
    assert peak < 1_000_000


@pytest.mark.parametrize("name", ["nothing", "."])
def test_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableError, match="log file"):
        list(read_lines(str(tmp_path / name)))
