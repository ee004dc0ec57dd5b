"""The page of rows that are not right."""

from __future__ import annotations

import pytest
from validation import misses
from validation.misses import list_misses, reason_of, render_misses
from validation.rows import load_rows
from validation.sample import Sample

RIGHT = Sample("vllm_weights", "dstack-405b-fp8-h100x8", 100, 100)
WRONG = Sample("vllm_weights", "dstack-405b-fp8-h100x8", 3 * 2**30, 2**30)


def test_only_what_is_not_right() -> None:
    assert list_misses([RIGHT, WRONG]) == [WRONG]


def test_in_the_order_of_metrics_then_rows() -> None:
    wrong = [Sample(metric, row, 1, None) for metric in ("oracle_weights", "vllm_pool") for row in ("b", "a")]
    assert [(sample.metric, sample.row) for sample in list_misses(wrong)] == [
        ("vllm_pool", "a"), ("vllm_pool", "b"), ("oracle_weights", "a"), ("oracle_weights", "b"),
    ]  # fmt: skip


def test_the_most_special_reason_counts() -> None:
    sample = Sample("vllm_pool", "x-1", 1, None)
    reasons = {"x*": "of the group", "x-1": "of the row", "vllm_pool/x-1": "of the metric"}
    assert reason_of(sample, reasons) == "of the metric"
    del reasons["vllm_pool/x-1"]
    assert reason_of(sample, reasons) == "of the row"
    del reasons["x-1"]
    assert reason_of(sample, reasons) == "of the group"
    assert reason_of(sample, {}) is None


def test_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misses, "read_reasons", lambda: {WRONG.row: "measured twice"})
    source = next(row.source for row in load_rows("vllm") if row.id == WRONG.row)
    page = render_misses([WRONG, RIGHT])
    assert "## vLLM: weights per rank" in page
    assert f"| [{WRONG.row}]({source}) | 3.00 GiB | 1.00 GiB | measured twice |" in page


@pytest.mark.parametrize(
    ("metric", "seen", "predicted", "cells"),
    [
        ("vllm_started", True, False, "| fits | does not fit |"),
        ("vllm_tokens", 1234567, None, "| 1,234,567 | no answer |"),
        ("vllm_concurrency", 2.5, 3.75, "| 2.50 | 3.75 |"),
    ],
)
def test_values(metric: str, seen: float, predicted: float | None, cells: str) -> None:
    assert cells in render_misses([Sample(metric, WRONG.row, seen, predicted)])
