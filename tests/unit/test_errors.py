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
