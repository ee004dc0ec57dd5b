"""Lines of a batch."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnreadableError
from tonnage.ui.cli.batch import exit_code, parse_line


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
    ],
)
def test_refused_lines(line: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        parse_line("line 7", line)
    assert refused.value.line.startswith(f"line 7: {reason}")
    assert len(refused.value.line) < 200


@pytest.mark.parametrize(
    ("result", "code"),
    [({"fits": True}, 0), ({"fits": False}, 1), ({"error": "x", "code": 3}, 3), ({"rows": []}, 0)],
)
def test_exit_code(result: dict[str, Any], code: int) -> None:
    assert exit_code(result) == code
