"""How each line of the ledger came about: figure, band, basis and formula, and every note."""

from __future__ import annotations

from tonnage.ui.views.ranks import group_ranks
from tonnage.ui.views.screen import BLANK, Span, label_rows
from tonnage.ui.views.table import Table, table_rows
from tonnage.units import render_gib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tonnage.ui.views.screen import Row

_HEADS = ("line", "size", "band", "basis", "how")


def explain_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    """A table for each distinct rank, then every reason and note."""
    ranks = {rank["rank"]: rank for rank in answer.get("ranks") or ()}
    rows: list[Row] = []
    for group in group_ranks(list(ranks.values())):
        first = ranks[group.numbers[0]]
        budget = f"card {render_gib(first['card_bytes'])}, the engine may use {render_gib(first['budget_bytes'])}"
        rows += [BLANK, (Span(group.label, "label"), Span(f"  {budget}")), *table_rows(_ledger_table(first), width)]
    for label, key in (("because", "because"), ("notes", "notes")):
        texts = [str(text) for text in answer.get(key) or ()]
        rows += [BLANK, *label_rows(label, texts, len(" because  "), width)] if texts else []
    return rows


def _ledger_table(rank: Mapping[str, Any]) -> Table:
    cells = tuple(
        (str(line["name"]), render_gib(line["bytes"], 2), _band(line), str(line["basis"]), str(line.get("trace") or ""))
        for line in rank["lines"]
    )
    free = ("free", render_gib(rank["free_bytes"], 2), "", "", "card less all lines")
    return Table(_HEADS, ("left", "right", "right", "left", "left"), (*cells, free))


def _band(line: Mapping[str, Any]) -> str:
    low, high = line.get("low"), line.get("high")
    if low is None or high is None or low == high:
        return ""
    return f"{render_gib(low, 2).removesuffix(' GiB')}-{render_gib(high, 2)}"
