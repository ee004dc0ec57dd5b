"""tonnage fit: does a model fit on a fleet."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.ui.cli.print_answer import print_answer
from tonnage.ui.cli.question import add_question, question_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tonnage.ui.views.screen import Row

SUMMARY = "Say whether a model fits on a fleet, with the ledger of every rank."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fit`."""
    add_question(parser)
    parser.add_argument("--on", metavar="FLEET", help="[NODESx]COUNTxNAME such as 2x8xH100, or a TOML file")
    parser.add_argument("--explain", action="store_true", help="show how each line of the ledger came about")
    parser.add_argument(
        "--batch", metavar="FILE", help="questions as JSON Lines, answered in order; - is standard input"
    )


def run(args: argparse.Namespace) -> int:
    """Answer one question or a batch."""
    record = question_record(args) | ({"gpu": args.on} if args.on else {})
    if args.batch:
        from tonnage.ui.cli.batch import run_batch

        return run_batch(args.batch, record, _answer_short, args.debug)
    for name, field in (("MODEL", "model"), ("--on", "gpu")):
        if field not in record:
            raise UsageError(name, "absent", "tonnage fit MODEL --on FLEET, or --batch FILE")
    answer = _answer(record)
    print_answer(answer, args.json, _explained if args.explain else _rows)
    return 0 if answer["fits"] else 1


def _answer(record: dict[str, Any], with_remedies: bool = True) -> dict[str, Any]:
    from tonnage.plan.fit import answer_question
    from tonnage.plan.question import Question

    return answer_question(Question.from_record(record), with_remedies)


def _answer_short(record: dict[str, Any]) -> dict[str, Any]:
    return _answer(record, with_remedies=False)


def _rows(answer: dict[str, Any], width: int) -> list[Row]:
    from tonnage.ui.views.fit import fit_rows

    return fit_rows(answer, width)


def _explained(answer: dict[str, Any], width: int) -> list[Row]:
    from tonnage.ui.views.explain import explain_rows

    return _rows(answer, width) + explain_rows(answer, width)
