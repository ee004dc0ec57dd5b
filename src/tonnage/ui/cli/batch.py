"""Questions from a file of JSON Lines, answers as JSON Lines, in order."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.seams.stream import open_stream
from tonnage.ui.cli.guard import attempt
from tonnage.ui.cli.print_json import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Record = dict[str, Any]

LONGEST_LINE = 1 << 20  # bytes; a question has some hundred
_FORM = "one JSON object a line"


def run_batch(path: str, defaults: Mapping[str, Any], answer: Callable[[Record], Record], is_debug: bool) -> int:
    """Answer every line of `path` (`-` is standard input); fields that a line lacks come from `defaults`.

    The exit code is the worst of all lines: the code of an error, 1 for a no, else 0.
    """
    worst = 0
    for number, line in enumerate(_read_lines(path), start=1):
        if line.strip():
            result = _answer_line(number, line, lambda record: answer({**defaults, **record}), is_debug)
            print_json(result)
            worst = max(worst, exit_code(result))
    return worst


def exit_code(result: Mapping[str, Any]) -> int:
    """The code one result stands for."""
    return int(result["code"]) if "error" in result else int(not result.get("fits", True))


def _answer_line(number: int, line: bytes, answer: Callable[[Record], Record], is_debug: bool) -> Record:
    record = attempt(lambda: _parse_question(f"line {number}", line), is_debug)
    if "error" in record and "code" in record:
        return {"id": None, **record}
    # The id comes back as it was given, a number as a number.
    return {"id": None} | attempt(lambda: answer(record), is_debug) | {"id": record.get("id")}


def parse_line(thing: str, line: bytes) -> Record:
    """The object on a line, nulls dropped; UnreadableError names `thing` otherwise.

    Keys given twice with different values and numbers that are none are refused: nobody could say what is meant.
    """
    import json

    try:
        record = json.loads(
            line.decode("utf-8-sig"), object_pairs_hook=_merge, parse_float=_finite, parse_constant=_finite
        )
    except (ValueError, RecursionError) as error:
        raise UnreadableError(thing, _reason(error), _FORM) from error
    if not isinstance(record, dict):
        raise UnreadableError(thing, f"{type(record).__name__}, not an object", _FORM)
    return {key: value for key, value in record.items() if value is not None}


def _parse_question(thing: str, line: bytes) -> Record:
    if len(line) > LONGEST_LINE:
        raise UnreadableError(thing, f"more than {LONGEST_LINE} bytes", _FORM)
    return parse_line(thing, line)


def _merge(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        for key, value in pairs:
            if repr(record[key]) != repr(value):  # 1, 1.0 and true are equal but not the same
                raise ValueError(f"key {key[:40]!a} twice")
    return record


def _finite(text: str) -> float:
    number = float(text)
    if not abs(number) < float("inf"):
        raise ValueError(f"{text[:40]} is no number")
    return number


def _reason(error: Exception) -> str:
    return f"not JSON ({' '.join(str(error).split())[:80]})"  # the text may quote the line


def _read_lines(path: str) -> Iterator[bytes]:
    """Lines, of which those that are too long come as their first part."""
    with open_stream(path, f"a file, {_FORM}") as file:
        try:
            while line := file.readline(LONGEST_LINE + 1):
                yield line
                while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE + 1)
        except OSError as error:
            raise UnreadableError(path, error.strerror or "unreadable", f"a file, {_FORM}") from error
