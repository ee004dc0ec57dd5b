"""The tree of errors: one line, one exit code each."""

from __future__ import annotations

import pytest

from tonnage.errors import (
    LayoutError,
    MissingExtraError,
    TonnageError,
    UnknownKeyError,
    UnreadableError,
    UnsupportedError,
    UsageError,
    WorldError,
)


def test_the_line_names_thing_value_and_what_is_accepted() -> None:
    error = UsageError("engine", "vlm", "one of vllm, sglang, llamacpp")
    assert str(error) == error.line == "engine: vlm: one of vllm, sglang, llamacpp"
    assert (error.thing, error.seen, error.accepted) == ("engine", "vlm", "one of vllm, sglang, llamacpp")


def test_a_value_with_line_breaks_stays_on_one_line() -> None:
    assert UnreadableError("config.json", "{\n  'a':\t1}", "JSON").line == "config.json: { 'a': 1}: JSON"


def test_what_is_not_printable_is_escaped() -> None:
    # a terminal would turn red, a log would lose its line, standard output would refuse the half of a pair
    assert UsageError("model", "\x1b[31m\udcff\x85", "a name").line == r"model: \x1b[31m\udcff: a name"


def test_long_values_lose_their_middle() -> None:
    line = UsageError("model", "a" * 10**6 + "z", "x" * 10**5).line
    assert line.startswith("model: " + "a" * 200 + "..." + "a" * 199 + "z: xxx")
    assert len(line) == len("model: ") + 403 + len(": ") + 1603


def test_nothing_is_shown_as_nothing() -> None:
    assert UsageError("trust", "", "headers or config").line == "trust: '': headers or config"


def test_a_value_need_not_be_text() -> None:
    assert LayoutError("tp", 7, "a divisor of 64").line == "tp: 7: a divisor of 64"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (UsageError, 2),
        (UnreadableError, 2),
        (UnknownKeyError, 2),
        (LayoutError, 1),
        (UnsupportedError, 1),
        (WorldError, 3),
        (MissingExtraError, 3),
    ],
)
def test_exit_codes(kind: type[TonnageError], code: int) -> None:
    assert kind("thing", "seen", "accepted").code == code


@pytest.mark.parametrize(
    ("kind", "base"),
    [(UnknownKeyError, UnreadableError), (UnsupportedError, LayoutError), (MissingExtraError, WorldError)],
)
def test_special_errors_are_caught_with_their_kind(kind: type[TonnageError], base: type[TonnageError]) -> None:
    with pytest.raises(base, match="seen"):
        raise kind("thing", "seen", "accepted")
    assert issubclass(base, TonnageError)
