"""Reading the log of one engine line by line, by what the engine's lines mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from tonnage.memory.log_scan import Scanner
from tonnage.memory.log_start import AnyStart, Starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tonnage.memory.log_scan import Dialect, Found
    from tonnage.memory.receipt import Receipt


@dataclass(frozen=True, slots=True)
class LogRules(Generic[AnyStart]):
    """What the lines of an engine mean: how they look, what each fact changes, and what comes out in the end.

    Facts named in `sure` stand in no other engine's log. `make` gives an empty start, `take` puts a fact into the
    current one or begins another, `build` makes the receipt of a start with notes about the log.
    """

    dialect: Dialect
    sure: frozenset[str]
    make: Callable[[], AnyStart]
    take: Callable[[Starts[AnyStart], Found], None]
    build: Callable[[AnyStart, tuple[str, ...]], Receipt]


class LogReader(Generic[AnyStart]):
    """Takes a log line by line and tells at any time what it has read; its memory does not grow.

    `is_sure` is set once a line was read that no other engine writes.
    """

    def __init__(self, rules: LogRules[AnyStart]) -> None:
        self._rules = rules
        self._scanner = Scanner(rules.dialect)
        self._starts = Starts(rules.make)
        self.is_sure = False

    def feed(self, line: str) -> None:
        """Read one line."""
        for found in self._scanner.feed(line):
            self.is_sure = self.is_sure or found.name in self._rules.sure
            self._rules.take(self._starts, found)

    def read(self, lines: Iterable[str]) -> Receipt:
        """Read the rest of a log, in its order; what all of it says."""
        for line in lines:
            self.feed(line)
        return self.receipt()

    def receipt(self) -> Receipt:
        """What has been read so far: the last start that came to an end."""
        return self._rules.build(self._starts.chosen(), self._starts.notes())
