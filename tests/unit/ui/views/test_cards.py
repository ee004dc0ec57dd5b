"""The table of `cards`."""

from __future__ import annotations

from typing import Any

from tonnage.ui.views.cards import cards_rows
from tonnage.ui.views.screen import plain_text

GIB = 2**30
ANSWER: dict[str, Any] = {
    "model": {"id": "meta-llama/Llama-3.1-405B"},
    "rows": [
        {
            "accelerator": "amd-mi300x",
            "name": "MI300X",
            "count": 8,
            "nodes": 1,
            "layout": {"words": "TP8"},
            "free_bytes": 20 * GIB,
            "price_usd": 160_000.0,
            "why_not_fewer": "weights need 189.0 GiB a card",
            "why_not_fewer_brief": "weights 189.0 of 180.0 GiB",
        },
        {
            "accelerator": "nvidia-h100",
            "name": "H100",
            "count": 16,
            "nodes": 2,
            "layout": {"words": "TP8 x PP2"},
            "free_bytes": 7 * GIB,
            "price_usd": None,
            "why_not_fewer": "weights need 94.5 GiB a card",
        },
        {
            "accelerator": "rtx-3060",
            "name": "RTX 3060",
            "count": None,
            "nodes": None,
            "layout": None,
            "why_not_fewer": "",
        },
    ],
    "notes": ["prices of November"],
}


def test_smallest_numbers() -> None:
    lines = [plain_text(row) for row in cards_rows(ANSWER, 100)]
    assert lines[0] == "Llama-3.1-405B fits on 2 of 3 kinds of card; the smallest number of each:"
    assert lines[3].split("  ")[0] == "MI300X"
    assert lines[2].split()[3:] == ["room", "USD", "one", "fewer", "fails", "because"]
    assert lines[3].endswith("20.0 GiB  160,000  weights 189.0 of 180.0 GiB")
    assert "2 x 8  TP8 x PP2" in lines[4]
    assert lines[4].endswith("7.0 GiB")
    assert "not on any number of 1 others: RTX 3060" in lines
    assert "USD: the cards alone, newest known price; tonnage catalog list prices" in lines
    assert lines[-1] == "prices of November"


def test_narrow() -> None:
    lines = [plain_text(row) for row in cards_rows(ANSWER, 40)]
    assert max(map(len, lines)) <= 40
    assert any(line.split() == ["room", "20.0", "GiB"] for line in lines)


def test_none_holds_it() -> None:
    rows = cards_rows({"model": "x/y", "rows": ANSWER["rows"][2:]}, 80)
    assert rows[0][0].role == "bad"
    assert plain_text(rows[0]).startswith("y fits on 0 of 1 kinds")


def test_a_hundred_columns_hold_the_longest_row_on_one_line() -> None:
    row = ANSWER["rows"][0] | {
        "name": "RTX PRO 6000 Blackwell Max-Q", "count": 24, "nodes": 3, "layout": {"words": "TP8 x PP3"},
        "why_not_fewer_brief": "16 hold 1,267 of 1,454 GiB",
    }  # fmt: skip
    lines = [plain_text(line) for line in cards_rows({"model": "x/y", "rows": [row]}, 100)]
    assert len(lines) == 6  # head, blank, headings, row, blank, about prices
    assert lines[3].endswith("16 hold 1,267 of 1,454 GiB")


def test_eighty_columns_go_without_the_room() -> None:
    lines = [plain_text(row) for row in cards_rows(ANSWER, 80)]
    assert "room" not in lines[2]
    assert lines[3].endswith("160,000  weights 189.0 of 180.0 GiB")


def test_the_kinds_that_hold_it_in_no_number_stand_on_one_line() -> None:
    none = [ANSWER["rows"][2] | {"name": f"GeForce RTX {number}"} for number in range(3000, 3040)]
    lines = [plain_text(row) for row in cards_rows({"model": "x/y", "rows": none}, 80)]
    assert lines[-1].startswith("not on any number of 40 others: RTX 3000, RTX 3001, ")
    assert lines[-1].endswith(" more")
    assert len(lines[-1]) <= 80
