"""The command `python -m validation`."""

from __future__ import annotations

from pathlib import Path

import pytest
from validation import accuracy
from validation.accuracy import main
from validation.sample import Sample

START, END = "<!-- accuracy:start -->", "<!-- accuracy:end -->"


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [Sample("vllm_weights", "dstack-405b-fp8-h100x8", 100, predicted) for predicted in (100, 200)]
    monkeypatch.setattr(accuracy, "take_samples", lambda: samples)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "| vLLM: weights per rank | 2 | 2 |" in capsys.readouterr().out


def test_the_gate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "read_gate", lambda: {"vllm_weights": 50.0})
    assert main(["--gate"]) == 0
    monkeypatch.setattr(accuracy, "read_gate", lambda: {"vllm_weights": 50.1})
    assert main(["--gate"]) == 1
    assert "worse: vllm_weights: 50.0 % right, 50.1 % before" in capsys.readouterr().out


def test_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"a\n{START}\n{END}\nb\n", encoding="utf-8")
    monkeypatch.setattr(accuracy, "README", readme)
    assert main(["--write-readme"]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"a\n{START}\n| compared with |")
    assert text.endswith(f"\n{END}\nb\n")


def test_the_page_of_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "PAGE", tmp_path / "misses.md")
    assert main(["--write-misses"]) == 0
    assert "dstack-405b-fp8-h100x8" in (tmp_path / "misses.md").read_text(encoding="utf-8")


def test_misses_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--misses"]) == 0
    assert "# Rows that are not right" in capsys.readouterr().out
