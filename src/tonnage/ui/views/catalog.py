"""Rows of the catalogue as tables, one row in full, problems of a check."""

from __future__ import annotations

from tonnage.ui.views.screen import Span, label_rows, shorten, wrap_row
from tonnage.ui.views.table import Table, table_rows
from tonnage.units import GB, KB, MB, render_bytes, render_count, render_gib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tonnage.ui.views.screen import Row
    from tonnage.ui.views.table import Align

_NUMBERS = ("bytes", "_per_s", "_per_direction", "value", "parameters", "active", "_per_token", "context")
# Columns of the screen: a whole table of models, its numbers with and without sizes, the least of an id.
_WIDE, _ALL_WIDTH, _NUMBERS_WIDTH, _SHORTEST_ID = 95, 64, 52, 24
_COUNTS = ("parameters", "active")  # shown in billions
_HIDDEN = ("arch",)  # for programs only
# Columns for each kind of row: key and heading; a kind that is not here shows its ids.
_COLUMNS: dict[str, tuple[tuple[str, str], ...]] = {
    "accelerators": (
        ("name", "accelerator"),
        ("memory_bytes", "memory"),
        ("memory_basis", "basis"),
        ("bandwidth_bytes_per_s", "bandwidth"),
        ("id", "id"),
    ),
    "models": (
        ("id", "model"),
        ("parameters", "parameters"),
        ("active", "active"),
        ("kv_bytes_per_token", "KV a token"),
        ("max_context", "context"),
        ("stored_bytes", "size"),
        ("stored_bits", "bits"),
    ),
    "nodes": (("name", "node"), ("accelerator", "accelerator"), ("cards", "cards"), ("id", "id")),
    "links": (("name", "link"), ("topology", "topology"), ("bytes_per_s_per_direction", "one way"), ("id", "id")),
    "prices": (
        ("item", "item"),
        ("value", "price"),
        ("unit", "unit"),
        ("provider", "provider"),
        ("from", "from"),
        ("id", "id"),
    ),
}


def list_rows(kind: str, rows: Sequence[Mapping[str, Any]], width: int) -> list[Row]:
    """A table of all rows of a kind, and how many there are."""
    columns = _columns(kind, width)
    shown = [_named(row, width) for row in rows] if kind == "models" else rows
    cells = tuple(tuple(_words(key, row.get(key)) for key, _ in columns) for row in shown)
    aligns: tuple[Align, ...] = tuple("right" if key.endswith(_NUMBERS) else "left" for key, _ in columns)
    table = Table(tuple(head for _, head in columns), aligns, cells)
    return [*table_rows(table, width), *wrap_row(f"{len(rows)} {kind}", width, "dim")]


def _columns(kind: str, width: int) -> tuple[tuple[str, str], ...]:
    """Keys and headings; a screen of 80 columns has no room for the size of a model."""
    columns = _COLUMNS.get(kind, (("id", "id"),))
    is_narrow = kind == "models" and width < _WIDE
    return tuple(column for column in columns if not is_narrow or column[0] != "stored_bytes")


def _named(row: Mapping[str, Any], width: int) -> dict[str, Any]:
    """A model whose id leaves room for its numbers; without its organisation on narrow screens."""
    is_narrow = width < _WIDE
    name = row["id"].rpartition("/")[2] if is_narrow else row["id"]
    return {**row, "id": shorten(name, max(_SHORTEST_ID, width - (_NUMBERS_WIDTH if is_narrow else _ALL_WIDTH)))}


def show_rows(row: Mapping[str, Any], width: int) -> list[Row]:
    """Every key of one row."""
    column = min(max(map(len, row), default=0) + 3, width // 2)
    shown = {key: value for key, value in row.items() if key not in _HIDDEN and value not in ([], None)}
    return [line for key, value in shown.items() for line in label_rows(key, _texts(key, value), column, width)]


def problem_rows(problems: Sequence[str], width: int) -> list[Row]:
    """The problems of a check, or that there are none."""
    if not problems:
        return [(Span("the catalogue is in order", "good"),)]
    return [row for problem in problems for row in wrap_row(problem, width, "bad")]


def _texts(key: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        # The sizes in a dictionary have no unit in their own names.
        unit = "partition_bytes" if key == "partitions" else key
        return [f"{_words(unit, entry)} {name}" for name, entry in value.items() if entry]
    if isinstance(value, list) and value:
        return [str(entry) for entry in value]
    return [_words(key, value)]


def _words(key: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, int) and key in _COUNTS:
        return f"{value / GB:,.1f} bn"
    if isinstance(value, int | float) and key.endswith(("_per_token", "_per_request")):
        return render_bytes(round(value)) if key.endswith("_per_request") else f"{value:,.0f} B"
    if isinstance(value, int) and key.endswith("_bytes"):
        return render_gib(value)
    if isinstance(value, int) and "bytes_per_s" in key:
        return f"{value // MB / KB:,.1f} GB/s"  # as data sheets say it
    if isinstance(value, int) and not isinstance(value, bool):
        return render_count(value)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
