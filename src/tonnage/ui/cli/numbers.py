"""Numbers of a command line; an error says which option they belong to."""

from __future__ import annotations

from tonnage.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def whole_number(flag: str) -> Callable[[str], int]:
    """A reader of whole numbers from 1; `131_072` and `131,072` are read too."""

    def read(text: str) -> int:
        digits = text.replace(",", "").replace("_", "")
        if not (digits.isascii() and digits.isdigit() and int(digits[:20])):
            raise UsageError(flag, repr(text), "a whole number of 1 or more")
        return int(digits[:20])

    return read


def number(flag: str) -> Callable[[str], float]:
    """A reader of finite numbers from 0."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise UsageError(flag, repr(text), "a number of 0 or more")
        return value

    return read
