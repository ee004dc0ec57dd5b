"""Every end of the process."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

import pytest

from tonnage.errors import LayoutError, MissingExtraError, UnreadableError, WorldError
from tonnage.ui.cli.guard import attempt, error_record, guard


def raiser(error: BaseException) -> NoReturn:
    """Raise it."""
    raise error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UnreadableError("config.json", "broken", "JSON"), 2, "error: config.json: broken: JSON"),
        (LayoutError("tp", 3, "1, 2 or 4"), 1, "error: tp: 3: 1, 2 or 4"),
        (WorldError("hub", "timeout", "a network"), 3, "error: hub: timeout: a network"),
        (MissingExtraError("shtab", "not installed", "pip install x"), 3, "error: shtab: not installed: pip install x"),
        (OSError(28, "No space left on device", "/x"), 3, "error: /x: No space left on device: a file or device"),
        (KeyError("lay\ners"), 2, "error: internal fault: KeyError 'lay\\ners': an input"),
    ],
)
def test_errors_are_one_line(error: Exception, code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert guard(lambda: raiser(error), is_debug=False, is_json=False) == code
    err = capsys.readouterr().err
    assert err.startswith(line)
    assert err.count("\n") == 1


def test_json_tells_the_error_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    guard(lambda: raiser(WorldError("hub", "timeout", "a network")), is_debug=False, is_json=True)
    assert json.loads(capsys.readouterr().out) == {"error": "hub: timeout: a network", "code": 3}


def test_a_traceback_only_for_debug(capsys: pytest.CaptureFixture[str]) -> None:
    guard(lambda: raiser(KeyError("x")), is_debug=True, is_json=False)
    assert "Traceback" in capsys.readouterr().err
    assert attempt(lambda: raiser(KeyError("x")), is_debug=False)["code"] == 2
    assert "Traceback" not in capsys.readouterr().err


def test_interrupt() -> None:
    assert guard(lambda: raiser(KeyboardInterrupt()), is_debug=False, is_json=False) == 130


def test_success_passes_its_code() -> None:
    assert guard(lambda: 1, is_debug=False, is_json=False) == 1


def test_a_record_of_many_lines_is_one() -> None:
    assert error_record(UnreadableError("a\nb", "c\n\nd", "e"))["error"] == "a b: c d: e"


def test_attempt_passes_records() -> None:
    assert attempt(lambda: {"fits": True}, is_debug=False) == {"fits": True}
    assert "tonnage.ui.cli.guard" in sys.modules
