"""A folder of this machine as a store of model files."""

from __future__ import annotations

import os

from tonnage.seams.files import file_size, list_files, read_range
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tonnage.seams.store import Result


@value
class Folder:
    """The files directly in the folder `origin`; see `store.Store`."""

    origin: str

    def names(self) -> tuple[str, ...]:
        """The files' names, sorted; sub-folders are left out."""
        return list_files(self.origin)

    def size(self, name: str) -> int:
        """Bytes of file `name`."""
        return file_size(os.path.join(self.origin, name))

    def read(self, name: str, start: int, count: int) -> bytes:
        """Bytes `start` to `start + count` of file `name`, fewer only where the file ends."""
        return read_range(os.path.join(self.origin, name), start, count)

    def each(self, call: Callable[[str], Result], names: Sequence[str]) -> list[Result]:
        """`call(name)` for every name, one after the other."""
        return [call(name) for name in names]
