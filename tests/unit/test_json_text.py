"""JSON as the standard library reads and writes it, without its Python half."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage import json_text
from tonnage.json_text import parse_json, render_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
TEXTS = [
    '{"a": [1, 2.5, null, true, "\\u00e9é"], "b": {}}', " [1]\n", "[]", "5", '"x"', "null", '{"a": 1, "a": 2}',
    '["\\ud83d\\ude00"]', "[1e400, -0.0, 12345678901234567890]",
]  # fmt: skip
BROKEN = ["", " ", '{"a":', "[1] x", "nul", "[1,]", "{'a': 1}", '["\t"]', '{"a" 1}', "[1", '"x', "\ufeff[1]", "[01]"]


@pytest.fixture(params=["with its C half", "without"])
def _halves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.setattr(json_text, "_scan", None)
        monkeypatch.setattr(json_text, "_encode", None)


@pytest.mark.usefixtures("_halves")
@pytest.mark.parametrize("text", TEXTS)
def test_reading(text: str) -> None:
    assert parse_json(text) == json.loads(text)


@pytest.mark.usefixtures("_halves")
def test_numbers_that_json_does_not_know() -> None:
    found = parse_json("[NaN, Infinity, -Infinity]")
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf]


@pytest.mark.usefixtures("_halves")
@pytest.mark.parametrize("text", BROKEN)
def test_broken_texts(text: str) -> None:
    with pytest.raises(ValueError) as expected:
        json.loads(text)
    with pytest.raises(ValueError) as found:
        parse_json(text)
    assert str(found.value) == str(expected.value)


def test_absurd_nesting() -> None:
    with pytest.raises(RecursionError):
        parse_json("[" * 100_000)


@pytest.mark.usefixtures("_halves")
@pytest.mark.parametrize("item", [{}, [1, (2, 3)], {"a": 1.5, "b": None, "c": [True, "é\n"]}, {1: math.inf}, "x", 5])
def test_writing(item: Any) -> None:
    assert render_json(item) == json.dumps(item)


@pytest.mark.usefixtures("_halves")
def test_what_is_no_json() -> None:
    with pytest.raises(TypeError):
        render_json({"a": {1, 2}})


@given(VALUES)
def test_round_trip(item: Any) -> None:
    text = render_json(item)
    assert text == json.dumps(item)
    assert text.isascii()
    assert parse_json(text) == json.loads(text)
