"""tonnage receipt: an engine's start-up log as a ledger, beside the prediction."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

SUMMARY = "Read an engine's start-up log and compare it with the prediction."
MAX_LOG_BYTES = 1 << 30  # a start-up log is some hundred KiB


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The logs, what to compare with, whether to keep the difference."""
    parser.add_argument("logs", metavar="LOG", nargs="+", help="start-up log, one for each node; - is standard input")
    parser.add_argument("--against", metavar="PLAN", help="an answer of `tonnage fit --json` to compare with")
    parser.add_argument("--save", action="store_true", help="keep the difference to calibrate later answers")


def run(args: argparse.Namespace) -> int:
    """Print measured beside predicted."""
    from tonnage.plan.receipt import receipt

    text = "\n".join(_read(path) for path in args.logs)
    answer = receipt(text, _read_answer(args.against) if args.against else None, is_saved=args.save)
    if args.json:
        from tonnage.ui.cli.print_json import print_json

        print_json(answer)
    else:
        from tonnage.ui.cli.print_rows import print_rows, screen_width
        from tonnage.ui.views.receipt import receipt_rows

        print_rows(receipt_rows(answer, screen_width()))
    return 0


def _read(path: str) -> str:
    """The text of a log; bytes that are no UTF-8 come from other programs' output and carry no figure."""
    from tonnage.seams.files import read_file

    data = sys.stdin.buffer.read(MAX_LOG_BYTES) if path == "-" else read_file(path, MAX_LOG_BYTES)
    return data.decode("utf-8", "replace")


def _read_answer(path: str) -> dict[str, Any]:
    from tonnage.ui.cli.batch import parse_line

    return parse_line(path, _read(path).encode())
