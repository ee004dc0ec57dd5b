"""The gate that keeps the accuracy."""

from __future__ import annotations

from pathlib import Path

import pytest
from validation import gate
from validation.gate import find_losses, read_gate, write_gate
from validation.sample import Sample
from validation.table import Line, summarize


@pytest.fixture
def lines() -> list[Line]:
    rows = [("a", 100), ("b", 150), ("c", 101)]
    return summarize(Sample("vllm_weights", row, 100, predicted) for row, predicted in rows)


def test_written_and_read(lines: list[Line], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "GATE", tmp_path / "gate.toml")
    write_gate(lines)
    assert read_gate() == {"vllm_weights": 66.7}  # 2 of 3
    assert find_losses(lines, read_gate()) == []


def test_a_fall_is_named(lines: list[Line]) -> None:
    assert find_losses(lines, {"vllm_weights": 66.8}) == ["vllm_weights: 66.7 % right, 66.8 % before"]


def test_a_rise_is_not(lines: list[Line]) -> None:
    assert find_losses(lines, {"vllm_weights": 10.0}) == []


def test_a_metric_that_is_gone_is_named(lines: list[Line]) -> None:
    assert find_losses(lines, {"vllm_pool": 50.0}) == ["vllm_pool: not asked any more"]
