"""tonnage receipt, with a reader of logs that answers from a record."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tonnage.ui.cli.main import main

ANSWER = {"engine": "vllm", "engine_version": "0.11.0", "lines": [{"name": "weights", "bytes": 2**30}]}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the reader of logs was given."""
    calls: list[Any] = []

    def receipt(text: str, against: dict[str, Any] | None, is_saved: bool) -> dict[str, Any]:
        calls.append((text, against, is_saved))
        return ANSWER

    module = ModuleType("tonnage.plan.receipt")
    module.receipt = receipt  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return calls


def test_logs_are_joined(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(b"one \xff\n")
    (tmp_path / "b.log").write_text("two")
    assert main(["receipt", str(tmp_path / "a.log"), str(tmp_path / "b.log"), "--save"]) == 0
    assert asked == [("one \ufffd\n\ntwo", None, True)]
    assert "weights  1.00 GiB" in capsys.readouterr().out


def test_against_an_answer(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("one")
    (tmp_path / "plan.json").write_text('{"fits": true}')
    assert main(["receipt", str(tmp_path / "a.log"), "--against", str(tmp_path / "plan.json"), "--json"]) == 0
    assert asked == [("one", {"fits": True}, False)]
    assert json.loads(capsys.readouterr().out) == ANSWER


def test_a_log_that_is_not_there(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["receipt", str(tmp_path / "none.log")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'none.log'}: ")
    assert asked == []
