"""The errors of tonnage.

TonnageError                 anything a user is told in one line
  UsageError                 exit 2: contradictory or unknown options, unknown names
  UnreadableError            exit 2: a file that cannot be understood
    UnknownKeyError          a configuration key that matters and is not understood
  LayoutError                exit 1: a layout the engine refuses, with its reason
    UnsupportedError         exit 1: a format or model the engine cannot run on this card
  WorldError                 exit 3: network, process or device failed
    MissingExtraError        an optional package is not installed
"""

from __future__ import annotations

# Characters of a line's parts: a reader wants to see where a path or value begins and ends, and a list of names whole.
LONGEST_VALUE = 400
LONGEST_LIST = 1600


class TonnageError(Exception):
    """One line for the user: the thing, the value seen, and what would be accepted.

    ``code`` is the documented exit code of the process.
    """

    code = 2

    def __init__(self, thing: str, seen: object, accepted: str) -> None:
        self.thing, self.seen, self.accepted = thing, seen, accepted
        super().__init__(f"{thing}: {seen}: {accepted}")

    @property
    def line(self) -> str:
        """The single line printed to standard error, without its ``error:`` prefix.

        White space is one space, other control characters are escaped, long parts lose their middle.
        """
        thing, seen = show_text(self.thing), show_text(self.seen)
        return f"{thing}: {seen or repr(seen)}: {show_text(self.accepted, LONGEST_LIST)}"


class UsageError(TonnageError):
    """Wrong use: an unknown name or options that contradict each other."""


class UnreadableError(TonnageError):
    """An input that cannot be understood: broken, truncated, lying or not what it says."""


class UnknownKeyError(UnreadableError):
    """A configuration key that decides memory and whose meaning is not known."""


class LayoutError(TonnageError):
    """A layout the engine refuses; ``accepted`` says what it would take."""

    code = 1


class UnsupportedError(LayoutError):
    """A format or model that the engine cannot run on this card in any layout."""


class WorldError(TonnageError):
    """The outside world failed: network, process or device."""

    code = 3


class MissingExtraError(WorldError):
    """An optional package is missing; ``accepted`` names the extra to install."""


def show_text(value: object, longest: int = LONGEST_VALUE) -> str:
    """An untrusted value as part of a line: printable, of at most about `longest` characters."""
    text = str(value)
    if len(text) > longest:
        text = f"{text[: longest // 2]}...{text[-longest // 2 :]}"
    text = " ".join(text.split())
    # What is not printable moves the cursor, changes colours or breaks the encoding.
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
