"""What is read once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tonnage.errors import UnreadableError
from tonnage.seams.stream import open_stream


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\n\xff")
    with open_stream(str(tmp_path / "a"), "a file") as file:
        assert file.read() == b"one\n\xff"


def test_a_pipe() -> None:
    read, write = os.pipe()
    os.write(write, b"one")
    os.close(write)
    with open_stream(f"/dev/fd/{read}", "a file") as file:
        assert file.read() == b"one"
    os.close(read)


def test_the_null_device_is_empty() -> None:
    with open_stream(os.devnull, "a file") as file:
        assert file.read() == b""


@pytest.mark.parametrize(
    ("path", "reason"),
    [("nothing", "No such file"), (".", "directory"), ("a\0b", "null byte"), ("/dev/zero", "a device")],
)
def test_refused(path: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableError, match=reason) as refused:
        open_stream(path, "a file of questions")
    assert refused.value.line.endswith(": a file of questions")


def test_standard_input_stays_open_for_others() -> None:
    code = (
        "import sys; from tonnage.seams.stream import open_stream\n"
        "with open_stream('-', 'a file') as file: print(file.read())\n"
        "print(sys.stdin.closed)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], input=b"one", capture_output=True, env=environment)
    assert done.stdout.split() == [b"b'one'", b"False"]


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UnreadableError, match="standard input: closed: a file"):
        open_stream("-", "a file")
