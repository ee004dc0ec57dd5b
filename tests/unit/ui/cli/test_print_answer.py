"""An answer for programs and for people."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.ui.cli.print_answer import print_answer
from tonnage.ui.views.screen import Row, Span


def show(answer: dict[str, Any], width: int) -> list[Row]:
    """One row with all that was given."""
    return [(Span(f"{answer['fits']} in {width}"),)]


def test_for_people(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "66")
    print_answer({"fits": True}, False, show)
    assert capsys.readouterr().out == "True in 66\n"


def test_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer({"fits": True}, True, show)
    assert capsys.readouterr().out == '{"fits": true}\n'
