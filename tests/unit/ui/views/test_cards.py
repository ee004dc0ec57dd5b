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
    assert "160,000 USD  weights need 189.0 GiB a card" in lines[3]
    assert "2 x 8  TP8 x PP2" in lines[4]
    assert "unknown" in lines[4]
    assert "on no number tried: RTX 3060" in lines
    assert lines[-1] == "prices of November"


def test_narrow() -> None:
    lines = [plain_text(row) for row in cards_rows(ANSWER, 40)]
    assert max(map(len, lines)) <= 40
    assert any(line.split() == ["room", "a", "card", "20.0", "GiB"] for line in lines)


def test_none_holds_it() -> None:
    rows = cards_rows({"model": "x/y", "rows": ANSWER["rows"][2:]}, 80)
    assert rows[0][0].role == "bad"
    assert plain_text(rows[0]).startswith("y fits on 0 of 1 kinds")
