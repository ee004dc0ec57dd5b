"""Where the files of one model lie: a folder, a repository on the Hub, or a fake of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    Result = TypeVar("Result")


class Store(Protocol):
    """A flat set of named files that can be read in ranges.

    Every method may raise `UnreadableError` (missing or broken file) or `WorldError` (network).
    """

    @property
    def origin(self) -> str:
        """What to call the store in a report: the folder's path, or `hf:ORG/NAME@commit`."""

    def names(self) -> tuple[str, ...]:
        """The files' names, sorted."""

    def size(self, name: str) -> int:
        """Bytes of file `name`."""

    def read(self, name: str, start: int, count: int) -> bytes:
        """Bytes `start` to `start + count` of file `name`, fewer only where the file ends."""

    def each(self, call: Callable[[str], Result], names: Sequence[str]) -> list[Result]:
        """`call(name)` for every name, results in the same order; a remote store works on several at once."""


@value
class Place:
    """A store and the one file of it that was asked for; `name` None means the whole store."""

    store: Store
    name: str | None = None


Opener = Callable[[str], Place]
