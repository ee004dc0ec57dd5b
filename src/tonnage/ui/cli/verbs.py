"""The verbs, each a module that is imported when it is asked for."""

from __future__ import annotations

from tonnage.ui.cli.reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from tonnage.ui.cli.parser import Parser
else:
    Protocol = object

NAMES = ("fit", "cards", "receipt", "catalog", "completion", "version")


class Verb(Protocol):
    """What a verb's module holds."""

    SUMMARY: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def load_verb(name: str) -> Verb:
    """The module of one of `NAMES`."""
    verb: Any = __import__(f"tonnage.ui.cli.{name}", fromlist=["run"])
    return verb  # type: ignore[no-any-return]


def read_arguments(name: str, verb: Verb, words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a verb; UsageError for a wrong command line, SystemExit after help."""
    reader: Any = Reader()
    add_shared(reader)
    verb.add_arguments(reader)
    plain: argparse.Namespace | None = reader.read(words)
    return plain or make_parser(name, verb).parse_intermixed_args(words)


def make_parser(name: str, verb: Verb) -> Parser:
    """The parser of one verb."""
    from tonnage.ui.cli.parser import Parser

    parser = Parser(f"tonnage {name}", verb.SUMMARY)
    add_shared(parser)
    verb.add_arguments(parser)
    return parser


def full_parser() -> Parser:
    """All verbs in one parser, for help and for completion scripts; slower to build than one verb's."""
    from tonnage.ui.cli.parser import Parser

    parser = Parser("tonnage", "Does a model fit on these accelerators?")
    parser.add_argument("--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in NAMES:
        verb = load_verb(name)
        inner = verbs.add_parser(name, help=verb.SUMMARY, description=verb.SUMMARY)
        add_shared(inner)
        verb.add_arguments(inner)
    return parser


def add_shared(parser: argparse.ArgumentParser) -> None:
    """`--json` and `--debug`, which all verbs have."""
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--debug", action="store_true", help="show a traceback when something fails")
