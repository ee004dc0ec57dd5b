"""Files of this machine: ranges, listings, whole small files, writing without half-written results."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from tonnage.errors import UnreadableError, WorldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LISTED = 100_000  # names; a folder with more is no model


def file_size(path: str) -> int:
    """Bytes of the regular file at `path`; `UnreadableError` if there is none or it may not be read."""
    with _reading(path):
        status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(path, "not a regular file", "a file")  # a pipe would block for ever
    return status.st_size


def is_folder(path: str) -> bool:
    """Whether `path` is a folder; `UnreadableError` if nothing is there."""
    with _reading(path):
        return stat.S_ISDIR(os.stat(path).st_mode)


def list_files(folder: str) -> tuple[str, ...]:
    """Sorted names of the regular files in `folder`, links followed; `UnreadableError` above `MAX_LISTED`."""
    names: list[str] = []
    with _reading(folder), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file():
                names.append(entry.name)
            if len(names) > MAX_LISTED:
                raise UnreadableError(folder, f"more than {MAX_LISTED} files", "the folder of one model")
    return tuple(sorted(names))


def read_range(path: str, start: int, count: int) -> bytes:
    """Bytes `start` to `start + count` of the regular file at `path`, fewer only where the file ends."""
    file_size(path)
    with _reading(path), open(path, "rb") as file:
        file.seek(start)
        return file.read(count)


def read_file(path: str, max_bytes: int) -> bytes:
    """All of the file at `path`; `UnreadableError` if it is larger than `max_bytes`."""
    size = file_size(path)
    if size > max_bytes:
        raise UnreadableError(path, f"{size} bytes", f"at most {max_bytes}")
    return read_range(path, 0, size)


def write_atomically(path: str, data: bytes) -> None:
    """Put `data` at `path`: the old file stays whole until the new one is on disk. `WorldError` if that fails."""
    target = os.path.realpath(path)
    partial = f"{target}.{os.getpid()}.part"
    try:
        _write_synced(partial, data)
        os.replace(partial, target)
    except OSError as error:
        _discard(partial)
        raise WorldError(path, _reason(error), "a place that can be written") from error


def _write_synced(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _discard(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadableError(ascii(path).strip("'"), _reason(error), "an existing, readable file or folder") from error
    except ValueError as error:  # a null byte in the name
        raise UnreadableError(ascii(path).strip("'"), str(error), "a path") from error
