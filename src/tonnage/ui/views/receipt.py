"""The answer of `receipt`: what an engine's log says beside what was predicted, line by line."""

from __future__ import annotations

from tonnage.ui.views.screen import BLANK, wrap_row
from tonnage.ui.views.subject import engine_words
from tonnage.ui.views.table import Table, table_rows
from tonnage.units import render_count, render_gib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tonnage.ui.views.screen import Row
    from tonnage.ui.views.table import Align

_PERCENT = 100
_HEADS = ("line", "measured", "predicted", "difference")
_ALIGNS: tuple[Align, ...] = ("left", "right", "right", "right")
_COUNTS = (("kv_cache_tokens", "tokens in the cache"), ("max_concurrency_x", "requests at once"))


def receipt_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    """Measured, predicted and the difference; without a prediction the measured column only."""
    predicted = answer.get("predicted") or {}
    cells = (*_line_cells(answer, predicted), *_count_cells(answer, predicted))
    shown = 4 if predicted else 2  # without a prediction there is nothing to compare with
    table = Table(_HEADS[:shown], _ALIGNS[:shown], tuple(row[:shown] for row in cells))
    head = f"{engine_words(answer) or 'The engine'} reports"
    notes = [str(note) for note in answer.get("notes") or ()]
    tail = [row for note in notes for row in wrap_row(note, width)]
    body = table_rows(table, width) or wrap_row("no line about memory", width)
    return [*wrap_row(head, width), BLANK, *body, *([BLANK, *tail] if tail else [])]


def sizes_of(record: Mapping[str, Any]) -> dict[str, int]:
    """Bytes by line name, lines of one name added; a prediction may bring its lines in its busiest rank."""
    lines = record.get("lines")
    if lines is None:
        ranks = {rank["rank"]: rank for rank in record.get("ranks") or ()}
        lines = ranks.get(record.get("busiest_rank"), {}).get("lines") or ()
    sizes: dict[str, int] = {}
    for line in lines:
        if line.get("bytes") is not None:
            sizes[line["name"]] = sizes.get(line["name"], 0) + line["bytes"]
    return sizes


def _line_cells(answer: Mapping[str, Any], predicted: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    measured, expected = sizes_of(answer), sizes_of(predicted)
    for name in dict.fromkeys((*measured, *expected)):
        seen, told = measured.get(name), expected.get(name)
        yield (name, *(_gib(size) for size in (seen, told)), _difference(seen, told))


def _count_cells(answer: Mapping[str, Any], predicted: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for key, words in _COUNTS:
        seen, told = answer.get(key), predicted.get(key)
        if seen is not None or told is not None:
            yield (words, *(_count(value) for value in (seen, told)), _difference(seen, told))


def _gib(size: int | None) -> str:
    return "not said" if size is None else render_gib(size, 2)


def _count(value: float | None) -> str:
    if value is None:
        return "not said"
    return render_count(value) if isinstance(value, int) else f"{value:,.2f}"


def _difference(seen: float | None, told: float | None) -> str:
    """The prediction's error in percent of what was measured."""
    if seen is None or told is None or not seen:
        return ""
    return f"{(told - seen) * _PERCENT / seen:+.1f} %"
