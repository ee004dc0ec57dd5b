"""Catalogue rows on a screen."""

from __future__ import annotations

from tonnage.ui.views.catalog import list_rows, problem_rows, show_rows
from tonnage.ui.views.screen import plain_text

GIB = 2**30


def test_list_of_cards() -> None:
    row = {"id": "amd-mi300x", "name": "MI300X", "memory_bytes": 192 * GIB, "memory_basis": "measured"}
    lines = [plain_text(row) for row in list_rows("accelerators", [row | {"bandwidth_bytes_per_s": 53 * 10**11}], 100)]
    assert lines[1].split() == ["MI300X", "192.0", "GiB", "measured", "5,300.0", "GB/s", "amd-mi300x"]
    assert lines[2] == "1 accelerators"


def test_unknown_stays_unknown() -> None:
    lines = [plain_text(row) for row in list_rows("nodes", [{"id": "n", "cards": None}], 100)]
    assert "unknown" in lines[1]


def test_one_row_in_full() -> None:
    row = {"id": "x", "aliases": ["a", "b"], "tdp_watts": 1000, "is_unified_memory": True, "source": []}
    assert [plain_text(line) for line in show_rows(row, 80)] == [
        " id                 x",
        " aliases            a",
        "                    b",
        " tdp_watts          1,000",
        " is_unified_memory  True",
        " source",
    ]


def test_problems() -> None:
    assert plain_text(problem_rows([], 80)[0]) == "the catalogue is in order"
    assert [plain_text(row) for row in problem_rows(["nodes: x: id appears twice"], 80)] == [
        "nodes: x: id appears twice"
    ]
