"""Plain command lines read without `argparse`, whose import and use take a tenth of the time of an answer.

A verb describes its arguments to a `Reader` as it would to `argparse`. A line with anything out of the ordinary (help,
a mistake, a value that begins with a dash) is not read here but left to `parser.Parser`, which knows what to say.
"""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any


@value
class Argument:
    """An option or a positional argument, in the words of `argparse`."""

    dest: str
    action: str = "store"
    const: bool = True
    nargs: str | None = None
    default: Any = None
    choices: tuple[str, ...] | None = None
    type: Callable[[str], Any] = str

    @property
    def initial(self) -> Any:
        """What stands where the argument is not given."""
        return False if self.action == "store_true" else self.default

    def take(self, words: Iterator[str]) -> Any:
        """The value, taken from the words that follow the option; ValueError where they are not plain."""
        return self.read(next(words, None)) if self.action == "store" else self.const

    def read(self, text: str | None) -> Any:
        """The value of a word; ValueError where there is none, where it looks like an option, or is no choice."""
        if text is None or is_option(text) or (self.choices and text not in self.choices):
            raise ValueError(text)
        return self.type(text)


class Arguments:
    """The values of a command line as attributes, like `argparse.Namespace`."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


class Reader:
    """Reads the plain command lines of one verb."""

    __slots__ = ("_options", "_places")

    def __init__(self) -> None:
        self._options: dict[str, Argument] = {}
        self._places: list[Argument] = []

    def add_argument(self, name: str, *, metavar: str = "", help: str = "", **spec: Any) -> None:  # noqa: ARG002
        """Take an argument as `ArgumentParser.add_argument` does; `metavar` and `help` are for others to show."""
        argument = Argument(**{"dest": name.lstrip("-").replace("-", "_")} | spec)
        if is_option(name):
            self._options[name] = argument
        else:
            self._places.append(argument)

    def read(self, words: Sequence[str]) -> Arguments | None:
        """The values by name; None for a line that is not plain."""
        found = {argument.dest: argument.initial for argument in (*self._options.values(), *self._places)}
        loose: list[str] = []
        rest = iter(words)
        try:
            for word in rest:
                if is_option(word):
                    found[self._options[word].dest] = self._options[word].take(rest)
                else:
                    loose.append(word)
            return Arguments(found | self._placed(loose))
        except (KeyError, ValueError):
            return None

    def _placed(self, loose: list[str]) -> dict[str, Any]:
        """Positional values by name; ValueError for too few or too many."""
        least = sum(place.nargs != "?" for place in self._places)
        if loose and [place.nargs for place in self._places] == ["+"]:
            return {self._places[0].dest: loose}
        if not least <= len(loose) <= len(self._places):
            raise ValueError(loose)
        return {place.dest: place.read(word) for place, word in zip(self._places, loose, strict=False)}


def is_option(word: str) -> bool:
    """Whether a word is meant as an option; a single dash is standard input."""
    return word.startswith("-") and word != "-"
