"""The accuracy reached stays reached, and every row that is not right has a reason."""

from __future__ import annotations

import pytest
from validation.ask import take_samples
from validation.gate import find_losses, read_gate
from validation.misses import PAGE, list_misses, read_reasons, reason_of
from validation.rows import load_rows
from validation.sample import METRICS, Sample
from validation.table import summarize

KINDS = ("vllm", "sglang", "llamacpp", "oracle")


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    """Predictions for all committed rows."""
    return take_samples()


def test_no_metric_fell(samples: list[Sample]) -> None:
    assert find_losses(summarize(samples), read_gate()) == []


def test_every_metric_is_kept(samples: list[Sample]) -> None:
    assert set(read_gate()) == {metric.key for metric in METRICS} == {sample.metric for sample in samples}


def test_every_miss_has_a_reason(samples: list[Sample]) -> None:
    reasons = read_reasons()
    unexplained = [f"{miss.metric}/{miss.row}" for miss in list_misses(samples) if reason_of(miss, reasons) is None]
    assert unexplained == []


def test_reasons_are_about_rows_that_exist() -> None:
    known = {row.id for kind in KINDS for row in load_rows(kind)}
    for name in read_reasons():
        row = name.rpartition("/")[2]
        assert row in known or any(row.endswith("*") and other.startswith(row[:-1]) for other in known), name


def test_the_page_lists_every_miss(samples: list[Sample]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [miss.row for miss in list_misses(samples) if f"[{miss.row}](" not in page] == []


def test_rows_have_an_origin() -> None:
    for kind in KINDS:
        rows = load_rows(kind)
        assert len({row.id for row in rows}) == len(rows) > 10
        for row in rows:
            assert row.source.startswith("https://"), row.id
            assert row.basis, row.id
            assert row.seen, row.id
            assert "notes" not in row.question, row.id
