"""Lines of log files, one at a time: a log may be larger than memory and hold anything."""

from __future__ import annotations

import io
import os
import sys

from tonnage.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST_LINE = 1 << 20  # bytes; what goes on longer without an end is handed out in pieces
STANDARD_INPUT = "-"


def read_lines(path: str) -> Iterator[str]:
    """The lines of the file at `path` without their ends; bytes that are no UTF-8 become replacement characters.

    `-` is standard input. Two byte-order marks are understood, as editors and shells of Windows write them.
    `UnreadableError` if there is no such file or it may not be read.
    """
    try:
        # Opened once: a pipe gives its bytes only once.
        with _open(path) as file:
            encoding = "utf-16" if file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
            with io.TextIOWrapper(file, encoding=encoding, errors="replace", newline=None) as text:
                while line := text.readline(LONGEST_LINE):
                    yield line.rstrip("\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableError(os.fspath(path), reason, "an existing, readable log file") from error


def chain_lines(paths: Iterable[str]) -> Iterator[str]:
    """The lines of several files, one file after the other; each is opened when its turn comes."""
    for path in paths:
        yield from read_lines(path)


def _open(path: str) -> io.BufferedReader:
    if path == STANDARD_INPUT:
        # A descriptor of its own, so that closing it leaves standard input to others.
        return open(os.dup(sys.stdin.fileno()), "rb")
    return open(path, "rb")
