"""A file seen through a function that reads ranges of it."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


@value
class Blob:
    """A file of `size` bytes; `read(start, count)` gives at most `count` bytes from `start`."""

    name: str
    size: int
    read: Callable[[int, int], bytes]

    def take(self, start: int, count: int) -> bytes:
        """Exactly `count` bytes from `start`; `UnreadableError` if the file ends before."""
        if start + count > self.size:
            raise UnreadableError(self.name, f"ends at byte {self.size}", f"at least {start + count} bytes")
        data = self.read(start, count)
        if len(data) != count:
            raise UnreadableError(self.name, f"{len(data)} bytes read at {start}", f"{count} bytes")
        return data
