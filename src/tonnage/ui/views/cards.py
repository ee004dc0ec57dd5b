"""The answer of `cards`: one line for each accelerator, smallest number first."""

from __future__ import annotations

from tonnage.ui.views.screen import BLANK, Span, shorten, wrap_row
from tonnage.ui.views.subject import card_words, layout_words, model_words
from tonnage.ui.views.table import Table, table_rows
from tonnage.units import render_gib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeVar

    from tonnage.ui.views.screen import Role, Row
    from tonnage.ui.views.table import Align

    Cell = TypeVar("Cell")

_HEADS = ("accelerator", "cards", "layout", "room", "USD", "one fewer fails because")
_ALIGNS: tuple[Align, ...] = ("left", "right", "left", "right", "right", "left")
_ROOM = 3  # the column that narrow screens go without
_WIDE, _NARROW = 90, 70  # columns
_SHORT_NAME = 22
PRICES = "USD: the cards alone, newest known price; tonnage catalog list prices"


def cards_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    """A sentence, the table of the kinds that hold the model, a line for those that do not."""
    rows = answer.get("rows") or ()
    holding = [row for row in rows if row.get("count")]
    others = [card_words(str(row.get("name") or row["accelerator"])) for row in rows if not row.get("count")]
    model = model_words(answer.get("model"))
    head = f"{model} fits on {len(holding)} of {len(rows)} kinds of card; the smallest number of each:"
    tail: list[Row] = [(Span(_others_words(others, width), "dim"),)] if others else []
    body = table_rows(_table(holding, width), width)
    role: Role = "good" if holding else "bad"
    if any(row.get("price_usd") is not None for row in holding):
        tail += wrap_row(PRICES, width, "dim")
    return [*wrap_row(head, width, role), BLANK, *body, *([BLANK, *tail] if tail else []), *_note_rows(answer, width)]


def _table(rows: Sequence[Mapping[str, Any]], width: int) -> Table:
    """All columns where there is room; then without the room left on a card, and with shorter names."""
    cells = tuple(map(_cells, rows))
    if not _NARROW <= width < _WIDE:
        return Table(_HEADS, _ALIGNS, cells)
    heads, aligns = _without(_HEADS), _without(_ALIGNS)
    return Table(heads, aligns, tuple((shorten(row[0], _SHORT_NAME), *_without(row)[1:]) for row in cells))


def _without(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    return (*row[:_ROOM], *row[_ROOM + 1 :])


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    price, nodes = row.get("price_usd"), row.get("nodes") or 1
    count = str(row["count"]) if nodes == 1 else f"{nodes} x {row['count'] // nodes}"
    return (
        card_words(str(row.get("name") or row["accelerator"])),
        count,
        layout_words(row.get("layout")),
        render_gib(row["free_bytes"]),
        "" if price is None else f"{price:,.0f}",
        str(row.get("why_not_fewer_brief") or ""),
    )


def _others_words(names: list[str], width: int) -> str:
    """The kinds that hold it in no number, on one line; those that do not find room are counted."""
    head = f"not on any number of {len(names)} others: "
    for shown in range(len(names), 0, -1):
        rest = f" and {len(names) - shown} more" if shown < len(names) else ""
        text = f"{head}{', '.join(names[:shown])}{rest}"
        if len(text) <= width:
            return text
    return f"not on any number of {len(names)} others"


def _note_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    notes = [str(note) for note in answer.get("notes") or ()]
    rows: list[Row] = [BLANK, (Span("notes", "label"),)] if notes else []
    return [*rows, *(row for note in notes for row in wrap_row(note, width))]
