"""tonnage catalog: what is known about models, cards, nodes, links and prices, and adding to it."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.plan.catalog import KINDS
from tonnage.ui.cli.print_answer import print_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tonnage.ui.views.screen import Row

SUMMARY = "List, show, check and extend the catalogue."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The four actions; a kind of rows, which may be left out; a name."""
    parser.add_argument("action", choices=("list", "show", "check", "add"))
    parser.add_argument("kind_or_name", nargs="?", metavar="KIND", help=f"{', '.join(KINDS)}; may be left out")
    parser.add_argument("name", nargs="?", metavar="NAME", help="text to look for, name to show, or row to add as JSON")
    parser.add_argument("--kind", choices=KINDS, help="the same as KIND")


def run(args: argparse.Namespace) -> int:
    """Do the action; `check` answers 1 when it finds problems."""
    kind, name = _kind_and_name(args)
    record = _answer(args.action, kind, name)
    print_answer(record, args.json, _rows)
    return 1 if record.get("problems") else 0


def _kind_and_name(args: argparse.Namespace) -> tuple[str | None, str]:
    """The kind, from its option or as first word (`model` and `models`), and the rest of the words."""
    words = [word for word in (args.kind_or_name, args.name) if word is not None]
    named = next((kind for kind in KINDS if words and words[0].lower() in (kind, kind[:-1])), None)
    if args.kind is None and named is not None:
        words.pop(0)
    return args.kind or named, " ".join(words)


def _answer(action: str, kind: str | None, name: str) -> dict[str, Any]:
    from tonnage.plan import catalog

    if action == "check":
        return catalog.check_all()
    if action == "list":
        return catalog.list_kind(kind or KINDS[0], name)
    if not name:
        what = "a name or an id" if action == "show" else "a row as one JSON object"
        raise UsageError("NAME", "absent", f"tonnage catalog {action} [KIND] NAME: {what}")
    if action == "show":
        return catalog.show_kind(kind, name)
    from tonnage.ui.cli.batch import parse_line

    return catalog.add_kind(kind or KINDS[0], parse_line("row", name.encode(errors="surrogateescape")))


def _rows(record: dict[str, Any], width: int) -> list[Row]:
    from tonnage.ui.views import catalog as views

    if "rows" in record:
        return views.list_rows(record["kind"], record["rows"], width)
    return views.problem_rows(record["problems"], width) if "problems" in record else views.show_rows(record, width)
