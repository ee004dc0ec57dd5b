"""Numbers in a log."""

from __future__ import annotations

import pytest

from tonnage.memory.log_number import plain_number, whole_number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8", 8),
        ("-1", -1),
        (" 16 ", 16),
        ("auto", None),
        ("", None),
        ("1.5", None),
        ("9" * 20, None),
        ("9" * 9000, None),
    ],
)
def test_whole(text: str, expected: int | None) -> None:
    assert whole_number(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.9", 0.9), ("4", 4.0), ("1e3", 1000.0), ("x", None), ("nan", None), ("inf", None), ("1e400", None)],
)
def test_plain(text: str, expected: float | None) -> None:
    assert plain_number(text) == expected
