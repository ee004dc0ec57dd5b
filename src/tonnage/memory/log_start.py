"""One start of an engine while its log is being read, and the choice between several starts in one log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tonnage.memory.log_scan import clean_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.memory.amount import Amount
    from tonnage.memory.receipt import Outcome

_MOST_SPEAKERS = 4096  # ranks; a log with more names is not a log of ranks
_MOST_VALUES = 64
_LONGEST_REFUSAL = 400  # characters, from the end
_MOST_NAMES = 512  # distinct openings; far more than processes open a start


@dataclass(slots=True)
class Start:
    """What has been read of one start: amounts by speaker and name, numbers and texts by name.

    `is_sized` is set once the KV cache has a size.
    """

    amounts: dict[str, dict[str, list[Amount]]] = field(default_factory=dict)
    numbers: dict[str, list[float]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    openings: set[tuple[str, str]] = field(default_factory=set)
    refusal: str | None = None
    is_started: bool = False
    is_sized: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing about memory has been read."""
        return not self.amounts and not self.numbers and self.refusal is None

    @property
    def is_complete(self) -> bool:
        """Whether the start came far enough to be read: it ended, good or bad, or its KV cache has a size."""
        return self.is_started or self.refusal is not None or self.is_sized

    def add(self, speaker: str, name: str, amount: Amount) -> None:
        """Keep an amount in the order of the log."""
        if speaker in self.amounts or len(self.amounts) < _MOST_SPEAKERS:
            values = self.amounts.setdefault(speaker, {}).setdefault(name, [])
            if len(values) < _MOST_VALUES:
                values.append(amount)

    def count(self, name: str, value: float) -> None:
        """Keep a number in the order of the log."""
        values = self.numbers.setdefault(name, [])
        if len(values) < _MOST_VALUES:
            values.append(value)

    def say(self, name: str, text: str | None) -> None:
        """Keep the first text of this name."""
        if text is not None:
            self.texts.setdefault(name, text)

    def refuse(self, line: str) -> None:
        """Keep the end of the first line that refuses: what follows are its consequences."""
        if self.refusal is None and not self.is_started:
            self.refusal = clean_line(line)[-_LONGEST_REFUSAL:]

    def outcome(self, refusal: str | None) -> Outcome:
        """How the start ended, where `refusal` is what it was refused for."""
        if refusal is not None:
            return "refused"
        return "started" if self.is_started else "unknown"

    def is_reopened(self, speaker: str, phrase: str) -> bool:
        """Whether this process has opened this start before, so that a new one begins; remembers that it did now."""
        is_known = (speaker, phrase) in self.openings
        if len(self.openings) < _MOST_NAMES:
            self.openings.add((speaker, phrase))
        return is_known

    def smallest(self, name: str) -> float | None:
        """The smallest number of this name."""
        return min(self.numbers.get(name, ()), default=None)

    def whole(self, name: str) -> int | None:
        """The smallest number of this name as a whole number."""
        value = self.smallest(name)
        return None if value is None else int(value)

    def last(self, name: str) -> int | None:
        """The number of this name that was read last, as a whole number."""
        values = self.numbers.get(name)
        return int(values[-1]) if values else None

    def texts_under(self, head: str) -> dict[str, str]:
        """The texts whose names begin with `head`, by the rest of their names."""
        return {name.removeprefix(head): text for name, text in self.texts.items() if name.startswith(head)}

    def largest(self, name: str) -> Amount | None:
        """The largest amount of this name over all speakers."""
        found = [a for values in self.amounts.values() for a in values.get(name, ())]
        return max(found, key=lambda amount: amount.bytes, default=None)

    def largest_bytes(self, name: str) -> int | None:
        """Bytes of the largest amount of this name."""
        amount = self.largest(name)
        return None if amount is None else amount.bytes


AnyStart = TypeVar("AnyStart", bound=Start)


class Starts(Generic[AnyStart]):
    """The starts of one log: the last one that came to an end, and how many there were.

    `make` gives an engine's own kind of start.
    """

    def __init__(self, make: Callable[[], AnyStart]) -> None:
        self._make = make
        self.current = make()
        self._whole: AnyStart | None = None
        self._num_ended = 0

    def begin(self) -> None:
        """Close the current start, if there is one, and begin another."""
        if not self.current.is_empty:
            self._num_ended += 1
            if self.current.is_complete:
                self._whole = self.current
        self.current = self._make()

    def chosen(self) -> AnyStart:
        """The last start that came to an end; the last one where none did."""
        if self.current.is_complete or self._whole is None:
            return self.current
        return self._whole

    def notes(self) -> tuple[str, ...]:
        """What a reader must know when the log holds several starts."""
        count = self._num_ended + (0 if self.current.is_empty else 1)
        return (f"the log holds {count} starts; the last that came to an end is shown",) if count > 1 else ()
