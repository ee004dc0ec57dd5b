"""Lines of log files, one at a time: a log may be larger than memory and hold anything."""

from __future__ import annotations

import io
import os

from tonnage.errors import UnreadableError
from tonnage.seams.stream import open_stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST_LINE = 1 << 20  # bytes; what goes on longer without an end is handed out in pieces
# Above what one start writes by orders of magnitude; reading more would take minutes.
LARGEST = 1 << 28  # characters
MOST_LINES = 1 << 22
_ACCEPTED = "an existing, readable log file"


def read_lines(path: str) -> Iterator[str]:
    """The lines of the file at `path` without their ends; bytes that are no UTF-8 become replacement characters.

    `-` is standard input. Two byte-order marks are understood, as editors and shells of Windows write them.
    `UnreadableError` if there is no such file, it may not be read, or it is far larger than the log of a start.
    """
    try:
        # Opened once: a pipe gives its bytes only once.
        with open_stream(path, _ACCEPTED) as file:
            encoding = "utf-16" if file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
            with io.TextIOWrapper(file, encoding=encoding, errors="replace", newline=None) as text:
                yield from _bounded(path, text)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableError(os.fspath(path), reason, _ACCEPTED) from error


def chain_lines(paths: Iterable[str]) -> Iterator[str]:
    """The lines of several files, one file after the other; each is opened when its turn comes."""
    for path in paths:
        yield from read_lines(path)


def _bounded(path: str, text: io.TextIOWrapper) -> Iterator[str]:
    size = number = 0
    while line := text.readline(LONGEST_LINE):
        size += len(line)
        number += 1
        if size > LARGEST or number > MOST_LINES:
            seen = f"more than {LARGEST} bytes or {MOST_LINES} lines"
            raise UnreadableError(path, seen, "the part that the engine wrote while it started")
        yield line.rstrip("\n")
