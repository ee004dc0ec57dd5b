"""Argument parsers that refuse in the form of all our errors."""

from __future__ import annotations

import argparse

from tonnage.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_NEAREST = 3
HELP_WIDTH = 88


class Help(argparse.HelpFormatter):
    """Help of a fixed width: asking the terminal would import half the compression library at every start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=HELP_WIDTH)


class Parser(argparse.ArgumentParser):
    """A parser of one verb; a wrong command line is a UsageError, not an exit."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog, description=description, formatter_class=Help, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the option, the value seen and what would be accepted."""
        name, _, rest = message.removeprefix("argument ").partition(": ")
        if message.startswith("unrecognized arguments"):
            raise UsageError("unknown argument", rest, self._nearest(rest))
        if message.startswith("the following arguments are required"):
            raise UsageError(rest, "absent", " ".join(self.format_usage().split()))
        if rest.startswith("invalid choice: "):
            seen, _, choices = rest.removeprefix("invalid choice: ").partition(" (choose from ")
            raise UsageError(name, seen, f"one of {choices.removesuffix(')')}")
        raise UsageError(name, rest or "not understood", f"see {self.prog} --help")

    def _nearest(self, text: str) -> str:
        from difflib import get_close_matches

        flags = [flag for action in self._actions for flag in action.option_strings]
        word = (text.partition("=")[0].split() or [""])[0]
        near = get_close_matches(word, flags, MAX_NEAREST)
        return f"nearest: {', '.join(near)}" if near else f"see {self.prog} --help"
