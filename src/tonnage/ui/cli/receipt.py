"""tonnage receipt: an engine's start-up log as a ledger, beside the prediction."""

from __future__ import annotations

from tonnage.ui.cli.print_answer import print_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tonnage.ui.views.screen import Row

SUMMARY = "Read an engine's start-up log and compare it with the prediction."
MAX_RECORD_BYTES = 1 << 26  # an answer for the largest layout is some MiB


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The logs, what to compare with, whether to keep the difference."""
    parser.add_argument("logs", metavar="LOG", nargs="+", help="start-up log, one for each node; - is standard input")
    parser.add_argument("--against", metavar="FILE", help="answer of `fit --json`, or a question as JSON or TOML")
    parser.add_argument("--save", action="store_true", help="keep the difference to calibrate later answers")


def run(args: argparse.Namespace) -> int:
    """Print measured beside predicted."""
    from tonnage.plan.receipt import receipt
    from tonnage.seams.log_lines import chain_lines

    against = _read_record(args.against) if args.against else None
    answer = receipt(chain_lines(args.logs), against, is_saved=args.save)
    print_answer(answer, args.json, _rows)
    return 0


def _rows(answer: dict[str, Any], width: int) -> list[Row]:
    from tonnage.ui.views.receipt import receipt_rows

    return receipt_rows(answer, width)


def _read_record(path: str) -> dict[str, Any]:
    """The answer or question in a file: TOML by its name, else one JSON object over any number of lines."""
    if path.lower().endswith(".toml"):
        from tonnage.catalog.load import read_toml

        return read_toml(path)
    from tonnage.seams.files import read_file
    from tonnage.ui.cli.batch import parse_line

    return parse_line(path, read_file(path, MAX_RECORD_BYTES))
