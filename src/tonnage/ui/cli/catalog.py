"""tonnage catalog: what is known about cards, nodes, links and prices, and adding to it."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.ui.cli.print_json import print_json
from tonnage.ui.cli.print_rows import print_rows, screen_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tonnage.ui.views.screen import Row

SUMMARY = "List, show, check and extend the catalogue."
KINDS = ("accelerators", "nodes", "links", "prices")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The four actions; `--kind` says which rows."""
    parser.add_argument("action", choices=("list", "show", "check", "add"))
    parser.add_argument("name", nargs="?", metavar="NAME", help="text to look for, name to show, or row to add as JSON")
    parser.add_argument("--kind", choices=KINDS, default="accelerators", help="default: accelerators")


def run(args: argparse.Namespace) -> int:
    """Do the action; `check` answers 1 when it finds problems."""
    from tonnage.catalog.load import Catalog
    from tonnage.seams.overlay import find_overlay, overlay_folder

    catalog = Catalog(overlay_folder() if args.action == "add" else find_overlay())
    record = {"list": _list, "show": _show, "check": _check, "add": _add}[args.action](catalog, args)
    if args.json:
        print_json(record)
    else:
        print_rows(_rows(args.kind, record, screen_width()))
    return 1 if record.get("problems") else 0


def _list(catalog: Any, args: argparse.Namespace) -> dict[str, Any]:
    from tonnage.catalog.rows import list_rows

    return {"kind": args.kind, "rows": list_rows(catalog, args.kind, args.name or "")}


def _show(catalog: Any, args: argparse.Namespace) -> dict[str, Any]:
    from tonnage.catalog.rows import show_row

    return show_row(catalog, args.kind, _needed(args, "a name or an id"))


def _check(catalog: Any, args: argparse.Namespace) -> dict[str, Any]:  # noqa: ARG001  all actions are called alike
    from tonnage.catalog.check import check_catalog, describe_problems

    return {"problems": describe_problems(check_catalog(catalog))}


def _add(catalog: Any, args: argparse.Namespace) -> dict[str, Any]:
    from tonnage.catalog.add import add_row
    from tonnage.seams.overlay import append_text
    from tonnage.ui.cli.batch import parse_line

    row = parse_line("row", _needed(args, "a row as one JSON object").encode())
    add_row(catalog, args.kind, row, append_text)
    return {"kind": args.kind, "added": row["id"], "folder": str(catalog.overlay)}


def _needed(args: argparse.Namespace, what: str) -> str:
    if not args.name:
        raise UsageError("NAME", "absent", f"tonnage catalog {args.action} NAME: {what}")
    return str(args.name)


def _rows(kind: str, record: dict[str, Any], width: int) -> list[Row]:
    from tonnage.ui.views import catalog as views

    if "rows" in record:
        return views.list_rows(kind, record["rows"], width)
    return views.problem_rows(record["problems"], width) if "problems" in record else views.show_rows(record, width)
