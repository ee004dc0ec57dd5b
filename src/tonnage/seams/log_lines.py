"""Lines of log files, one at a time: a log may be larger than memory and hold anything."""

from __future__ import annotations

import os

from tonnage.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 1 << 20  # bytes; what goes on longer without an end is handed out in pieces


def read_lines(path: str) -> Iterator[str]:
    """The lines of the file at `path` without their ends; bytes that are no UTF-8 become replacement characters.

    Two byte-order marks are understood, as editors and shells of Windows write them. `UnreadableError` if there is
    no such file or it may not be read.
    """
    try:
        with open(path, "rb") as file:
            encoding = "utf-16" if file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        with open(path, encoding=encoding, errors="replace", newline=None) as text:
            while line := text.readline(LONGEST_LINE):
                yield line.rstrip("\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableError(os.fspath(path), reason, "an existing, readable log file") from error
