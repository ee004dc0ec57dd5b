"""Tables, wide and narrow."""

from __future__ import annotations

from tonnage.ui.views.screen import plain_text
from tonnage.ui.views.table import Table, table_rows
from tonnage.value import replace

TABLE = Table(
    ("card", "count", "because"),
    ("left", "right", "left"),
    (("MI300X", "4", "weights need 201.1 GiB a card"), ("RTX 4090", "32", "")),
)


def lines_of(width: int) -> list[str]:
    """The table as plain lines."""
    return [plain_text(row) for row in table_rows(TABLE, width)]


def test_columns_are_aligned() -> None:
    assert lines_of(80) == [
        "card      count  because",
        "MI300X        4  weights need 201.1 GiB a card",
        "RTX 4090     32",
    ]


def test_last_column_wraps() -> None:
    assert lines_of(38) == [
        "card      count  because",
        "MI300X        4  weights need 201.1",
        "                 GiB a card",
        "RTX 4090     32",
    ]


def test_narrow_screens_get_blocks() -> None:
    assert lines_of(30) == [
        " card     MI300X",
        " count    4",
        " because  weights need 201.1",
        "          GiB a card",
        "",
        " card     RTX 4090",
        " count    32",
    ]


def test_no_rows_no_head() -> None:
    assert table_rows(replace(TABLE, cells=()), 80) == []
