"""Finding facts in the lines of a log, whatever terminals, containers and paste buffers did to them.

Patterns run on text without white space: a line that was wrapped in the middle of a word is whole again once its
pieces are put together, and padded columns do not matter.
"""

from __future__ import annotations

from functools import cache

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from re import Pattern

LONGEST_LINE = 1 << 16  # characters; what is longer is no line of a log
_PIECES = 8  # a long line is wrapped into fewer pieces
_OVERLAP = 256  # characters of a piece that may hold the start of a value
# Pieces of patterns. Numbers are bounded: a damaged log holds endless digits or two points.
NUMBER = r"\d{0,9}\.?\d{1,20}"
WHOLE = r"(\d{1,18})"
_COLOUR = r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,2}(?:;\d{1,2})*m"  # the second form lost its escape on the way


@value
class Fact:
    """A fact a log may state: the `phrase` that announces it and the `pattern` that reads it.

    `is_spaced` patterns need the line with its spaces, for names; `is_long` facts go on over following pieces.
    """

    name: str
    phrase: str
    pattern: str
    is_spaced: bool = False
    is_long: bool = False


# What PyTorch says for every engine that runs on it.
OUT_OF_MEMORY = Fact("refused", "outofmemory", r"(?:OutOfMemoryError|CUDA|HIP|XPU|NPU)\D{0,40}outofmemory")
DEVICE_NAME = Fact("card", "device_name=", r"device_name=(\w[\w-]*)", is_spaced=True)


@value
class Found:
    """A fact that was read: its groups, who said it, and the line."""

    name: str
    speaker: str
    groups: tuple[str | None, ...]
    line: str


@value
class Dialect:
    """How an engine logs: its facts, words one of which every such line has, and how a line begins.

    `speaker` names the process behind a line, `head` is what a line has that is no piece of the line before.
    """

    facts: tuple[Fact, ...]
    hints: tuple[str, ...]
    head: str
    speaker: Callable[[str], str]


@cache
def compiled(pattern: str) -> Pattern[str]:
    """The compiled pattern; compiled when a log first needs it. Digits and words are those of ASCII."""
    import re

    return re.compile(pattern, re.ASCII)


def clean_line(line: str) -> str:
    """The line without colours, line ends and null bytes, cut at `LONGEST_LINE`."""
    return compiled(_COLOUR).sub("", line[:LONGEST_LINE]).replace("\0", "").strip()


def squeeze(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


class Scanner:
    """Reads one line after the other; its memory does not grow with the log."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._before = ""  # what the next line continues if it has no head; empty when it continues nothing
        self._spaced = ""  # the same with its spaces, for readers
        self._speaker = ""
        self._pieces = 0
        self._long: Fact | None = None

    def feed(self, line: str) -> list[Found]:
        """The facts that are complete with this line."""
        is_hinted = self._is_hinted(line)
        if not is_hinted and not self._before:
            return []
        text = clean_line(line)
        if self._before and not compiled(self._dialect.head).search(text):
            return self._continue(text, is_hinted)
        self._before, self._long = "", None
        return self._begin(text) if is_hinted else []

    def _is_hinted(self, line: str) -> bool:
        # A plain loop: this runs for every line of the log, and a generator costs twice as much.
        for hint in self._dialect.hints:  # noqa: SIM110
            if hint in line:
                return True
        return False

    def _begin(self, text: str) -> list[Found]:
        self._before, self._spaced = squeeze(text), text
        self._pieces, self._speaker = 0, self._dialect.speaker(text)
        return self._read(text, self._before)

    def _read(self, text: str, squeezed: str) -> list[Found]:
        found: list[Found] = []
        for fact in self._dialect.facts:
            subject = text if fact.is_spaced else squeezed
            if fact.phrase in subject:
                matches = list(compiled(fact.pattern).finditer(subject))
                found += (Found(fact.name, self._speaker, match.groups(), text) for match in matches)
                self._long = fact if fact.is_long and matches else self._long
        return found

    def _continue(self, text: str, is_hinted: bool) -> list[Found]:
        """A line without a head: the rest of the line before, a line of its own, or both."""
        piece, cut = squeeze(text), len(self._before)
        joined = self._before + piece
        self._spaced = (self._spaced + text)[-LONGEST_LINE:]
        found = list(self._bridge(joined, cut))
        if self._long is not None:
            rest = joined[max(0, cut - _OVERLAP) :]
            found.append(Found(self._long.name, self._speaker, (rest,), text))
        if is_hinted:
            self._speaker = self._dialect.speaker(text) or self._speaker
            found += self._read(text, piece)
        self._pieces += 1
        self._before = joined[-LONGEST_LINE:] if self._pieces < _PIECES else ""
        return found

    def _bridge(self, joined: str, cut: int) -> Iterator[Found]:
        """Facts that begin before `cut` and end behind it."""
        for fact in self._dialect.facts:
            if not fact.is_spaced and not fact.is_long and fact.phrase in joined:
                for match in compiled(fact.pattern).finditer(joined):
                    if match.start() < cut < match.end():
                        yield Found(fact.name, self._speaker, match.groups(), self._spaced)
