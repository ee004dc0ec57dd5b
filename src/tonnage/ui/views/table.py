"""Tables that stay readable: columns side by side where they fit, one block a row where they do not."""

from __future__ import annotations

from tonnage.ui.views.screen import BLANK, Span, label_rows, wrap_text
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from tonnage.ui.views.screen import Row

    Align = Literal["left", "right"]

_GAP = 2
_MIN_LAST = 20  # the least a wrapped last column needs to be read


@value
class Table:
    """Headings, their alignment and cells; the last column is wrapped to the width that is left."""

    heads: tuple[str, ...]
    aligns: tuple[Align, ...]
    cells: tuple[tuple[str, ...], ...]


def table_rows(table: Table, width: int) -> list[Row]:
    """The table in lines of `width`; a stack of blocks where the last column would get too narrow."""
    if not table.cells:
        return []
    sizes = [max(len(row[number]) for row in (table.heads, *table.cells)) for number in range(len(table.heads))]
    left = width - sum(sizes[:-1]) - _GAP * (len(sizes) - 1)
    if left < min(_MIN_LAST, sizes[-1]):
        return _stacked(table, width)
    sizes[-1] = min(left, sizes[-1])
    head = [(Span(_padded(cells, table.aligns, sizes), "label"),) for cells in _lines(table.heads, sizes[-1])]
    body = [(Span(_padded(cells, table.aligns, sizes)),) for row in table.cells for cells in _lines(row, sizes[-1])]
    return [*head, *body]


def _lines(row: Sequence[str], last: int) -> list[list[str]]:
    """A row as lines: the last cell wrapped, the others empty after the first line."""
    parts = wrap_text(row[-1], last)
    return [[*(row[:-1] if number == 0 else [""] * (len(row) - 1)), part] for number, part in enumerate(parts)]


def _padded(cells: Sequence[str], aligns: Sequence[Align], sizes: Sequence[int]) -> str:
    padded = [
        cell.rjust(size) if align == "right" else cell.ljust(size)
        for cell, align, size in zip(cells, aligns, sizes, strict=True)
    ]
    return (" " * _GAP).join(padded).rstrip()


def _stacked(table: Table, width: int) -> list[Row]:
    column = min(max(map(len, table.heads)) + _GAP + 1, width // 2)
    rows: list[Row] = []
    for row in table.cells:
        filled = [(head, cell) for head, cell in zip(table.heads, row, strict=True) if cell]
        block = [line for head, cell in filled for line in label_rows(head, [cell], column, width)]
        rows += [BLANK, *block] if rows else block
    return rows
