"""The answer of `cards`: one line for each accelerator, smallest number first."""

from __future__ import annotations

from tonnage.ui.views.screen import BLANK, Span, wrap_row
from tonnage.ui.views.subject import layout_words, model_words
from tonnage.ui.views.table import Table, table_rows
from tonnage.units import render_gib, render_usd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tonnage.ui.views.screen import Role, Row
    from tonnage.ui.views.table import Align

_HEADS = ("accelerator", "cards", "layout", "room a card", "price", "one fewer fails because")
_ALIGNS: tuple[Align, ...] = ("left", "right", "left", "right", "right", "left")


def cards_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    """A sentence, the table of the kinds that hold the model, a line for those that do not."""
    rows = answer.get("rows") or ()
    holding = [row for row in rows if row.get("count")]
    others = [str(row.get("name") or row["accelerator"]) for row in rows if not row.get("count")]
    model = model_words(answer.get("model"))
    head = f"{model} fits on {len(holding)} of {len(rows)} kinds of card; the smallest number of each:"
    tail = wrap_row(f"on no number tried: {', '.join(others)}", width, "dim") if others else []
    body = table_rows(Table(_HEADS, _ALIGNS, tuple(map(_cells, holding))), width)
    role: Role = "good" if holding else "bad"
    return [*wrap_row(head, width, role), BLANK, *body, *([BLANK, *tail] if tail else []), *_note_rows(answer, width)]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    price, nodes = row.get("price_usd"), row.get("nodes") or 1
    count = str(row["count"]) if nodes == 1 else f"{nodes} x {row['count'] // nodes}"
    return (
        str(row.get("name") or row["accelerator"]),
        count,
        layout_words(row.get("layout")),
        render_gib(row["free_bytes"]),
        "unknown" if price is None else render_usd(price),
        str(row.get("why_not_fewer") or ""),
    )


def _note_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    notes = [str(note) for note in answer.get("notes") or ()]
    rows: list[Row] = [BLANK, (Span("notes", "label"),)] if notes else []
    return [*rows, *(row for note in notes for row in wrap_row(note, width))]
