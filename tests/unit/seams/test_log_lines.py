"""Lines of log files."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from tonnage.errors import UnreadableError
from tonnage.seams.log_lines import LONGEST_LINE, chain_lines, read_lines


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


@pytest.mark.parametrize("bound", ["LARGEST", "MOST_LINES"])
def test_far_too_large(tmp_path: Path, bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"tonnage.seams.log_lines.{bound}", 3)
    assert lines(tmp_path / "log", b"\n\n\n") == ["", "", ""]
    with pytest.raises(UnreadableError, match="while it started"):
        lines(tmp_path / "log", b"\n\n\n\n")


@pytest.mark.parametrize("name", ["nothing", ".", "a\0b"])
def test_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableError, match="log file"):
        list(read_lines(str(tmp_path / name)))


def test_several_files_are_one_log(tmp_path: Path) -> None:
    for name, text in (("a", "one\ntwo"), ("b", ""), ("c", "three\n")):
        (tmp_path / name).write_text(text)
    assert list(chain_lines(str(tmp_path / name) for name in "abc")) == ["one", "two", "three"]


def test_a_later_file_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    found = chain_lines([str(tmp_path / "a"), str(tmp_path / "b")])
    assert next(found) == "one"
    with pytest.raises(UnreadableError, match="b: No such file"):
        next(found)


def test_a_pipe_is_read_once() -> None:
    read, write = os.pipe()
    os.write(write, b"\xef\xbb\xbfone\ntwo\n")
    os.close(write)
    assert list(read_lines(f"/dev/fd/{read}")) == ["one", "two"]
    os.close(read)


def test_standard_input() -> None:
    code = "from tonnage.seams.log_lines import read_lines; print([*read_lines('-')], [*read_lines('-')])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], input=b"one\n\xff\n", capture_output=True, env=environment)
    assert done.stdout.decode().strip() == "['one', '\ufffd'] []"
