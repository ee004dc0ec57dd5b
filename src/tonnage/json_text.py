"""JSON texts, read and written by the C half of the standard library's `json`.

The Python half compiles its patterns when it is imported, which takes longer than all the JSON of one question. It
steps in where the C half is not there, and for its error messages.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SPACES = " \t\n\r"  # what JSON takes for space
CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}


class _Reading:
    """How `json.loads` reads when nothing else is asked for."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, CONSTANTS.__getitem__


def parse_json(text: str) -> Any:
    """The value of a JSON text; ValueError as `json.loads` raises it, RecursionError for absurd nesting."""
    try:
        value, end = _scan(text, 0) if _scan is not None else (None, -1)
    except StopIteration:
        end = -1
    if end >= 0 and not text[end:].strip(SPACES):
        return value
    from json import loads

    return loads(text)


def render_json(value: Any) -> str:
    """A value as `json.dumps` writes it, in ASCII on one line."""
    if _encode is not None:
        return "".join(_encode(value, 0))
    from json import dumps

    return dumps(value)


def _refuse(value: object) -> Any:
    raise TypeError(f"{type(value).__name__} is no JSON value")


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    _scan: Callable[[str, int], tuple[Any, int]] | None = make_scanner(_Reading)  # type: ignore[arg-type]
    _encode: Callable[[Any, int], tuple[str, ...]] | None = make_encoder(
        None, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, True
    )
except (ImportError, AttributeError, TypeError):
    _scan = _encode = None
