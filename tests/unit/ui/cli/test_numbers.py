"""Numbers of a command line."""

from __future__ import annotations

import pytest

from tonnage.errors import UsageError
from tonnage.ui.cli.numbers import number, whole_number


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("131,072", 131_072), ("1_000", 1000)])
def test_whole_numbers(text: str, value: int) -> None:
    assert whole_number("--tp")(text) == value


@pytest.mark.parametrize("text", ["", "0", "-1", "1.0", "1e3", "٣", "²", "two", "0x10", ",", " "])
def test_no_whole_numbers(text: str) -> None:
    with pytest.raises(UsageError, match=r"--tp: .*: a whole number of 1 or more"):
        whole_number("--tp")(text)


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("0.9", 0.9), ("4", 4.0), ("1e2", 100.0)])
def test_numbers(text: str, value: float) -> None:
    assert number("--offload-gib")(text) == value


@pytest.mark.parametrize("text", ["", "nan", "inf", "-0.1", "many"])
def test_no_numbers(text: str) -> None:
    with pytest.raises(UsageError, match=r"--offload-gib: .*: a number of 0 or more"):
        number("--offload-gib")(text)
