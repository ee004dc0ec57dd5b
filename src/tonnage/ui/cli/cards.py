"""tonnage cards: the smallest number of each kind of card that holds a model."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.ui.cli.print_answer import print_answer
from tonnage.ui.cli.question import add_question, question_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tonnage.ui.views.screen import Row

SUMMARY = "For every kind of card the smallest number that holds a model."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a question, without a fleet."""
    add_question(parser)


def run(args: argparse.Namespace) -> int:
    """Print the table; 1 where no kind of card holds the model."""
    from tonnage.plan.cards import list_cards
    from tonnage.plan.question import Question

    if not args.model:
        raise UsageError("MODEL", "absent", "tonnage cards MODEL")
    answer = list_cards(Question.from_record({**question_record(args), "gpu": "any"}))
    print_answer(answer, args.json, _rows)
    return 0 if any(row.get("count") for row in answer["rows"]) else 1


def _rows(answer: dict[str, Any], width: int) -> list[Row]:
    from tonnage.ui.views.cards import cards_rows

    return cards_rows(answer, width)
