"""tonnage cards."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tonnage.ui.cli.main import main

Planner = Callable[[dict[str, Any]], list[Any]]
HOLDS = {"accelerator": "mi300x", "count": 4, "nodes": 1, "layout": {"words": "TP4"}, "free_bytes": 2**30}
NOT = {"accelerator": "t4", "count": None, "why_not_fewer": "weights"}


def test_a_table(planner: Planner, capsys: pytest.CaptureFixture[str]) -> None:
    asked = planner({"model": {"id": "a/b"}, "rows": [HOLDS, NOT], "notes": []})
    assert main(["cards", "a/b", "--context", "32768"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("b fits on 1 of 2 kinds of card")
    assert asked[0][0].max_model_len == 32_768


def test_none_is_a_no(planner: Planner, capsys: pytest.CaptureFixture[str]) -> None:
    planner({"model": {"id": "a/b"}, "rows": [NOT], "notes": []})
    assert main(["cards", "a/b", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["rows"] == [NOT]


def test_a_model_is_needed(planner: Planner, capsys: pytest.CaptureFixture[str]) -> None:
    planner({"rows": []})
    assert main(["cards"]) == 2
    assert capsys.readouterr().err == "error: MODEL: absent: tonnage cards MODEL\n"
