"""What is read once from start to end: files, pipes, standard input."""

from __future__ import annotations

import os
import stat
import sys

from tonnage.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import io

STANDARD_INPUT = "-"


def open_stream(path: str, accepted: str) -> io.BufferedReader:
    """The bytes of `path`, or of standard input for `-`; `UnreadableError` says what would be `accepted`.

    Pipes are taken, for shells write `<(command)` as one. Devices are refused, because some never end: all but the
    terminal and the null device.
    """
    thing = "standard input" if path == STANDARD_INPUT else path
    try:
        # A descriptor of its own, so that closing it leaves standard input to others.
        file = open(os.dup(_standard_input()) if path == STANDARD_INPUT else path, "rb")  # noqa: SIM115  the caller's
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise UnreadableError(thing, getattr(error, "strerror", None) or str(error), accepted) from error
    if _is_endless(file.fileno()):
        file.close()
        raise UnreadableError(thing, "a device", accepted)
    return file


def _standard_input() -> int:
    if sys.stdin is None:  # closed by whoever started us
        raise OSError(0, "closed")
    return sys.stdin.fileno()


def _is_endless(descriptor: int) -> bool:
    status = os.fstat(descriptor)
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    return is_device and not os.isatty(descriptor) and status.st_rdev != os.stat(os.devnull).st_rdev
