"""A reading position in a GGUF file that holds only a window of it."""

from __future__ import annotations

from struct import Struct

from tonnage.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.model.headers.blob import Blob

    Order = Literal["<", ">"]


# The largest published headers (250,000 tokens with merges, a whole tokenizer.json beside them) take about 50 MB.
MAX_HEADER_BYTES = 128 * 2**20
WINDOW_BYTES = 256 * 1024
MAX_WINDOW_BYTES = 4 * 2**20


class Cursor:
    """Reads numbers and strings of one byte order in sequence; never holds more than one window of the file.

    Every size is compared with what is left before anything is read or allocated; `UnreadableError` otherwise.
    """

    def __init__(self, blob: Blob, order: Order = "<") -> None:
        self.blob, self.order = blob, order
        self.limit = min(blob.size, MAX_HEADER_BYTES)
        self._start = self._at = 0
        self._window = b""
        self._grow = WINDOW_BYTES
        self._length = Struct(f"{order}Q")

    @property
    def position(self) -> int:
        """Bytes from the start of the file."""
        return self._start + self._at

    @property
    def left(self) -> int:
        """Bytes up to the end of the file, or to the largest header taken."""
        return self.limit - self.position

    def bytes(self, count: int) -> bytes:
        """The next `count` bytes."""
        self._fill(count)
        self._at += count
        return self._window[self._at - count : self._at]

    def skip(self, count: int) -> None:
        """Pass over `count` bytes without reading them."""
        self._check(count)
        self._at += count

    def number(self, kind: Struct) -> int | float:
        """The next number of `kind`, which must have one field."""
        self._fill(kind.size)
        self._at += kind.size
        value: int | float = kind.unpack_from(self._window, self._at - kind.size)[0]
        return value

    def count(self, of: str, least_bytes: int) -> int:
        """A 64-bit count of things that take at least `least_bytes` each; refused if they cannot be in the file."""
        count = int(self.number(self._length))
        if count * least_bytes > self.left:
            raise UnreadableError(self.blob.name, f"{count} {of}", f"what fits in the {self.left} bytes of header left")
        return count

    def skip_strings(self, count: int) -> None:
        """Pass over `count` strings; the caller has bounded `count` by the bytes left."""
        unpack, width = self._length.unpack_from, self._length.size
        while count:
            self._fill(width)
            window, at, last = self._window, self._at, len(self._window) - width
            while count and at <= last:
                at += width + unpack(window, at)[0]
                count -= 1
            self.skip(at - self._at)

    def _check(self, count: int) -> None:
        if count > self.left:
            seen = f"{count} bytes announced at byte {self.position}"
            raise UnreadableError(self.blob.name, seen, f"at most the {self.left} bytes of header left")

    def _fill(self, count: int) -> None:
        if self._at + count <= len(self._window):
            return
        self._check(count)
        self._start, self._at = self.position, 0
        self._window = self.blob.take(self._start, min(max(count, self._grow), self.limit - self._start))
        self._grow = min(2 * self._grow, MAX_WINDOW_BYTES)
