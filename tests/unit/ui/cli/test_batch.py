"""Lines of a batch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tonnage.errors import UnreadableError
from tonnage.ui.cli.batch import LONGEST_LINE, exit_code, parse_line, run_batch


def test_nulls_are_dropped() -> None:
    assert parse_line("line 1", b'{"tp": null, "pp": 2, "ep": false}') == {"pp": 2, "ep": False}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not JSON"),
        (b"3", "int, not an object"),
        (b"null", "NoneType, not an object"),
        (b"\xff", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b'{"tp": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"tp": 1, "tp": 2}', "not JSON (key 'tp' twice)"),
        (b'{"a": {"tp": 1, "tp": true}}', "not JSON (key 'tp' twice)"),
        (b'{"id": NaN}', "not JSON (NaN is no number)"),
        (b'{"id": -Infinity}', "not JSON (-Infinity is no number)"),
        (b'{"id": 1e999}', "not JSON (1e999 is no number)"),
    ],
)
def test_refused_lines(line: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        parse_line("line 7", line)
    assert refused.value.line.startswith(f"line 7: {reason}")
    assert len(refused.value.line) < 200


def test_a_key_twice_with_one_value_is_no_matter() -> None:
    assert parse_line("line 1", b'{"tp": 2, "tp": 2, "x": 1.5}') == {"tp": 2, "x": 1.5}


def test_a_line_without_end_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b"x" * (3 * LONGEST_LINE) + b'\n{"a": 1}\n' + b"y" * (LONGEST_LINE + 1))
    assert run_batch(str(path), {"b": 2}, lambda record: {"seen": record}, is_debug=False) == 2
    first, second, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"id": None, "error": "line 1: more than 1048576 bytes: one JSON object a line", "code": 2}
    assert second == {"id": None, "seen": {"a": 1, "b": 2}}
    assert last["error"].startswith("line 3: more than")


@pytest.mark.parametrize("name", ["nothing", ".", "a\0b", "/dev/zero"])
def test_no_file_of_questions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableError, match="a file, one JSON object a line"):
        run_batch(name, {}, lambda record: record, is_debug=False)


@pytest.mark.parametrize(
    ("result", "code"),
    [({"fits": True}, 0), ({"fits": False}, 1), ({"error": "x", "code": 3}, 3), ({"rows": []}, 0)],
)
def test_exit_code(result: dict[str, Any], code: int) -> None:
    assert exit_code(result) == code
