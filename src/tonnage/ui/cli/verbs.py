"""The verbs, each a module that is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from tonnage.ui.cli.parser import Parser, add_shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any, Protocol
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
    verb: Any = import_module(f"tonnage.ui.cli.{name}")
    return verb  # type: ignore[no-any-return]


def full_parser() -> Parser:
    """All verbs in one parser, for help and for completion scripts; slower to build than one verb's."""
    parser = Parser("tonnage", "Does a model fit on these accelerators?")
    parser.add_argument("--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in NAMES:
        verb = load_verb(name)
        inner = verbs.add_parser(name, help=verb.SUMMARY, description=verb.SUMMARY)
        add_shared(inner)
        verb.add_arguments(inner)
    return parser
