"""Fakes of the outside world, for tests of tonnage and of programs that use it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tonnage.errors import UnreadableError, UsageError, WorldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tonnage.seams.process import Finished
    from tonnage.seams.store import Place, Result


@dataclass(frozen=True, slots=True)
class FakeStore:
    """Files in memory; see `store.Store`.

    `sizes` overrides the size told for a file, for files that lie or are too large to make. Every range read is
    appended to `reads` as (name, start, count).
    """

    files: Mapping[str, bytes]
    origin: str = "fake"
    sizes: Mapping[str, int] = field(default_factory=dict)
    reads: list[tuple[str, int, int]] = field(default_factory=list)

    def names(self) -> tuple[str, ...]:
        """The files' names, sorted."""
        return tuple(sorted(self.files))

    def size(self, name: str) -> int:
        """Bytes of file `name`."""
        return self.sizes.get(name, len(self._data(name)))

    def read(self, name: str, start: int, count: int) -> bytes:
        """Bytes `start` to `start + count` of file `name`, fewer only where the file ends."""
        self.reads.append((name, start, count))
        return self._data(name)[start : start + count]

    def each(self, call: Callable[[str], Result], names: Sequence[str]) -> list[Result]:
        """`call(name)` for every name, one after the other."""
        return [call(name) for name in names]

    def _data(self, name: str) -> bytes:
        if name not in self.files:
            raise UnreadableError(f"{self.origin}/{name}", "No such file or directory", "an existing file")
        return self.files[name]


@dataclass(frozen=True, slots=True)
class FakePlaces:
    """An opener (`store.Opener`) that knows the places given, by what a user would write."""

    places: Mapping[str, Place]

    def __call__(self, text: str) -> Place:
        """The place written as `text`; `UsageError` if it is not among those given."""
        if text not in self.places:
            raise UsageError("model", ascii(text), f"one of {', '.join(self.places)}")
        return self.places[text]


@dataclass(frozen=True, slots=True)
class FakeRunner:
    """A runner (`process.Runner`) that answers from a table of command lines and records them with their
    time limits in `calls`."""

    answers: Mapping[tuple[str, ...], Finished]
    calls: list[tuple[tuple[str, ...], float]] = field(default_factory=list)

    def __call__(self, command: Sequence[str], timeout_s: float) -> Finished:
        """The answer to `command`; `WorldError` as for a missing program if the table has none."""
        self.calls.append((tuple(command), timeout_s))
        if tuple(command) not in self.answers:
            raise WorldError(ascii(command[0]), "No such file or directory", "a program that can be started")
        return self.answers[tuple(command)]
