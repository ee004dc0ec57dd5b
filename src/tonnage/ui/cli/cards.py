"""tonnage cards: the smallest number of each kind of card that holds a model."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.ui.cli.question import add_question, question_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

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
    _print(answer, args.json)
    return 0 if any(row.get("count") for row in answer["rows"]) else 1


def _print(answer: dict[str, object], is_json: bool) -> None:
    if is_json:
        from tonnage.ui.cli.print_json import print_json

        return print_json(answer)
    from tonnage.ui.cli.print_rows import print_rows, screen_width
    from tonnage.ui.views.cards import cards_rows

    return print_rows(cards_rows(answer, screen_width()))
