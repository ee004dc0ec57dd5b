"""tonnage receipt, with a reader of logs that answers from a record."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
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

    def receipt(log: Iterable[str], against: dict[str, Any] | None, is_saved: bool) -> dict[str, Any]:
        calls.append((list(log), against, is_saved))
        return ANSWER

    module = ModuleType("tonnage.plan.receipt")
    module.receipt = receipt  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return calls


def test_logs_are_read_in_turn(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(b"one \xff\n")
    (tmp_path / "b.log").write_text("two")
    assert main(["receipt", str(tmp_path / "a.log"), str(tmp_path / "b.log"), "--save"]) == 0
    assert asked == [(["one \ufffd", "two"], None, True)]
    assert "weights  1.00 GiB" in capsys.readouterr().out


def test_against_an_answer(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("one")
    (tmp_path / "plan.json").write_text('{"fits": true}')
    assert main(["receipt", str(tmp_path / "a.log"), "--against", str(tmp_path / "plan.json"), "--json"]) == 0
    assert asked == [(["one"], {"fits": True}, False)]
    assert json.loads(capsys.readouterr().out) == ANSWER


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.json", '{"model": "a/b",\n "gpu": "H100", "tp": null}\n'),
        ("Q.TOML", 'model = "a/b"\ngpu = "H100"\n'),
    ],
)
def test_against_a_question(name: str, text: str, asked: list[Any], tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("one")
    (tmp_path / name).write_text(text)
    assert main(["receipt", str(tmp_path / "a.log"), "--against", str(tmp_path / name)]) == 0
    assert asked == [(["one"], {"model": "a/b", "gpu": "H100"}, False)]


@pytest.mark.parametrize(("name", "text"), [("q.json", "[1]"), ("q.json", "{"), ("q.toml", "model ="), ("q.md", "")])
def test_against_something_else(
    name: str, text: str, asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text("one")
    (tmp_path / name).write_text(text)
    assert main(["receipt", str(tmp_path / "a.log"), "--against", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / name}: ")
    assert asked == []


def test_a_log_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["receipt", str(tmp_path / "none.log")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'none.log'}: ")


def test_a_log_without_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("INFO nothing of interest\n")
    assert main(["receipt", str(tmp_path / "a.log"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"].startswith("log: no line with a memory figure")


def test_a_real_excerpt_beside_a_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # https://github.com/vllm-project/vllm/pull/17122: Llama 3.1 8B, 8,030,261,248 parameters x 2 B = 14.96 GiB
    lines = ["Model loading took 14.9889 GiB and 3.652170 seconds", "GPU KV cache size: 158,656 tokens"]
    for name, line in zip("ab", lines, strict=True):
        (tmp_path / name).write_text(f"INFO 04-24 16:33:00 [x.py:1] {line}\n")
    (tmp_path / "q.toml").write_text('model = "meta-llama/Llama-3.1-8B"\ngpu = "H100"\nengine_version = "0.8.4"\n')
    assert main(["receipt", str(tmp_path / "a"), str(tmp_path / "b"), "--against", str(tmp_path / "q.toml")]) == 0
    found = capsys.readouterr().out.splitlines()
    assert found[1] == "predicted for Llama-3.1-8B on 1 x H100 SXM5 80GB, TP1, vLLM 0.8.4"
    assert next(line for line in found if line.startswith("weights")).split()[1:3] == ["14.99", "GiB"]
    assert next(line for line in found if line.startswith("tokens in the cache")).split()[4] == "158,656"
