"""JSON that came with a checkpoint."""

import json
import math
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tonnage.errors import TonnageError, UnreadableError
from tonnage.model.document import parse_object

# The same examples in every run; a busy machine is no failure.
FUZZ = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_an_object_is_returned_as_it_is() -> None:
    assert parse_object(b'{"a": [1, {"b": null}], "c": 1.5}', "config.json") == {"a": [1, {"b": None}], "c": 1.5}


def test_infinity_and_nan_are_taken() -> None:
    # Nemotron configurations write time_step_limit [0.0, Infinity].
    parsed = parse_object(b'{"time_step_limit": [0.0, Infinity], "x": NaN}', "config.json")
    assert parsed["time_step_limit"] == [0.0, math.inf]
    assert math.isnan(float(str(parsed["x"])))


def test_a_byte_order_mark_is_taken() -> None:
    assert parse_object(b'\xef\xbb\xbf{"a": 1}', "config.json") == {"a": 1}


def test_a_key_given_twice_must_say_the_same() -> None:
    assert parse_object(b'{"a": NaN, "a": NaN}', "config.json").keys() == {"a"}
    with pytest.raises(UnreadableError, match=r"config\.json: key 'a': given twice with different values"):
        parse_object(b'{"a": 1, "a": true}', "config.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Expecting value"),
        (b"[1]", "top level is list: a JSON object"),
        (b"null", "top level is NoneType"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'{"a": 1', "delimiter"),
        (b'{"a": 1} x', "Extra data"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a":' + b"[" * 70 + b"]" * 70 + b"}", "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "limit"),
    ],
)
def test_broken_documents_end_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        parse_object(data, "config.json")
    assert "\n" not in caught.value.line
    assert caught.value.line.startswith("config.json")


def test_nesting_up_to_the_limit_is_taken() -> None:
    assert parse_object(b'{"a":' + b"[" * 60 + b"]" * 60 + b"}", "c")["a"]


def test_a_bomb_of_empty_lists_is_refused_before_it_is_built() -> None:
    bomb = b'{"a":[' + b"[]," * 3_000_000 + b"[]]}"
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="brackets"):
        parse_object(bomb, "config.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


@FUZZ
@given(st.binary(max_size=200))
def test_any_bytes_give_an_object_or_one_line(data: bytes) -> None:
    line = ""
    try:
        parse_object(data, "config.json")
    except TonnageError as error:
        line = error.line
    assert "\n" not in line


@FUZZ
@given(st.dictionaries(st.text(), st.recursive(st.integers() | st.text() | st.none(), st.lists, max_leaves=20)))
def test_what_json_writes_is_read_back(value: dict[str, object]) -> None:
    assert parse_object(json.dumps(value).encode(), "config.json") == value
