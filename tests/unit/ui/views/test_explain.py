"""How each line came about."""

from __future__ import annotations

from typing import Any

from tonnage.ui.views.explain import explain_rows
from tonnage.ui.views.screen import plain_text


def test_a_line_with_band_basis_and_formula(fits: dict[str, Any]) -> None:
    lines = [plain_text(row) for row in explain_rows(fits, 100)]
    # the engine may use 288 x 0.92
    assert "rank 0-7  card 288.0 GiB, the engine may use 265.0 GiB" in lines
    weights = next(line for line in lines if line.startswith("weights"))
    # 194.4 less and plus a tenth
    assert weights.split() == [
        "weights",
        "194.40",
        "GiB",
        "174.96-213.84",
        "GiB",
        "derived",
        "weights",
        "of",
        "rank",
        "0",
    ]
    assert any(line.startswith("free") and "31.00 GiB" in line for line in lines)


def test_all_notes_are_there(stages: dict[str, Any]) -> None:
    text = "\n".join(plain_text(row) for row in explain_rows(stages, 80))
    assert all(f"note {number}:" in text for number in range(9))


def test_all_reasons_are_there(fits: dict[str, Any]) -> None:
    lines = [plain_text(row) for row in explain_rows(fits, 80)]
    assert " because  896 experts stay resident though 16 act per token" in lines
    assert "          TP8 is the simplest layout, and it fits" in lines


def test_a_single_value_has_no_band(fits: dict[str, Any]) -> None:
    for rank in fits["ranks"]:
        rank["lines"] = [{"name": "weights", "bytes": 2**30, "low": 2**30, "high": 2**30, "basis": "derived"}]
    lines = [plain_text(row) for row in explain_rows(fits, 100)]
    assert next(line for line in lines if line.startswith("weights")).split() == ["weights", "1.00", "GiB", "derived"]


def test_no_ledger_no_table(invalid: dict[str, Any]) -> None:
    assert explain_rows(invalid, 80) == []
