"""JSON documents that come with a checkpoint, read with suspicion."""

from __future__ import annotations

import json
from functools import partial

from tonnage.errors import UnreadableError
from tonnage.model.headers.quote import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Pairs = list[tuple[str, object]]

MAX_DEPTH = 64  # published configurations nest six deep
# Half a million tensors in an index are as many commas; without a bound 100 MB of "[]," become gigabytes of lists.
MAX_COMMAS = 2**22
MAX_BRACKETS = 2**20


def parse_object(data: bytes, thing: str) -> dict[str, object]:
    """The object that the JSON text `data` of `thing` holds.

    NaN and Infinity are taken, because published configurations contain them. Refused with `UnreadableError`: text
    that is not UTF-8 or not JSON, a key given twice with different values, nesting beyond `MAX_DEPTH`, any other
    value than an object at the top.
    """
    commas, brackets = data.count(b","), data.count(b"[") + data.count(b"{")
    if commas > MAX_COMMAS or brackets > MAX_BRACKETS:
        raise UnreadableError(thing, f"{commas} commas, {brackets} brackets", f"at most {MAX_COMMAS}, {MAX_BRACKETS}")
    value = load_json(data, thing, partial(_merge, thing))
    if not isinstance(value, dict):
        raise UnreadableError(thing, f"top level is {type(value).__name__}", "a JSON object")
    _check_depth(value, thing)
    return value


def load_json(data: bytes, thing: str, hook: Callable[[Pairs], object]) -> object:
    """The JSON value in `data`, every object passed through `hook`; `UnreadableError` names `thing`."""
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=hook)
    except UnicodeDecodeError as error:
        raise UnreadableError(thing, f"byte {error.start} is not UTF-8", "JSON in UTF-8") from error
    except RecursionError as error:
        raise UnreadableError(thing, "nested too deeply", f"at most {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise UnreadableError(thing, str(error), "valid JSON") from error


def _merge(thing: str, pairs: Pairs) -> dict[str, object]:
    merged = dict(pairs)
    if len(merged) < len(pairs):
        for key, value in pairs:
            if not _is_same(merged[key], value):
                raise UnreadableError(f"{thing}: key {quote(key)}", "given twice with different values", "one value")
    return merged


def _is_same(one: object, other: object) -> bool:
    # repr: NaN differs from itself, and 1, 1.0 and True do not differ from each other
    return one is other or repr(one) == repr(other)


def _check_depth(top: dict[str, object], thing: str) -> None:
    level: list[object] = [top]
    for _ in range(MAX_DEPTH):
        level = [child for value in level for child in _children(value)]
        if not level:
            return
    raise UnreadableError(thing, "nested too deeply", f"at most {MAX_DEPTH} levels")


def _children(value: object) -> list[object]:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [child for child in values if isinstance(child, (dict, list))]
