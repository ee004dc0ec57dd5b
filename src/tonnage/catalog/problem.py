"""What is wrong with a row: its keys and values against the schema."""

from __future__ import annotations

from tonnage.catalog.schema import RULES
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

    from tonnage.catalog.schema import Kind, Row, Rule

    # Who wrote a row: we (sources are URLs), a user's overlay (any source), or a file of own hardware (no date needed).
    Origin = Literal["packaged", "overlay", "own"]

_DATE_LENGTHS = (len("2026"), len("2026-11"), len("2026-11-30"))


@value
class Problem:
    """One thing wrong: the kind of row, its id or position, and what."""

    kind: Kind
    row: str
    text: str


def check_rows(kind: Kind, rows: list[Row], origin: Origin) -> list[Problem]:
    """The problems of a list of rows; packaged rows must name their sources as URLs, a user's may say anything."""
    problems: list[Problem] = []
    seen: set[object] = set()
    for number, row in enumerate(rows, start=1):
        name = row.get("id") if isinstance(row.get("id"), str) else f"row {number}"
        problems += [Problem(kind, str(name), text) for text in _check_row(kind, row, origin)]
        if name in seen:
            problems.append(Problem(kind, str(name), "id appears twice"))
        seen.add(name)
    return problems


def _check_row(kind: Kind, row: Row, origin: Origin) -> Iterator[str]:
    rules = RULES[kind]
    for key, item in row.items():
        rule = rules.get(key)
        if rule is None:
            yield f"unknown key {key!r}; known: {', '.join(rules)}"
        else:
            yield from (f"{key}: {text}" for text in _check_value(rule, item, origin))
    optional = ("seen",) if origin == "own" else ()
    required = [key for key, rule in rules.items() if rule.is_required and key not in optional]
    yield from (f"{key} is missing" for key in required if key not in row)
    if kind == "prices":
        yield from _check_price(row)
    if kind == "accelerators":
        yield from _check_memory(row)


def _check_value(rule: Rule, value: Any, origin: Origin) -> Iterator[str]:
    if not _TYPES[rule.type](value):
        yield f"{value!r} is not {_WORDS[rule.type]}"
        return
    numbers = value.values() if rule.type == "sizes" else [value] if rule.type in ("int", "number") else ()
    for number in numbers:
        if not (rule.low or 0) <= number <= (rule.high or number):
            yield f"{number} is outside {rule.low} to {rule.high}"
    words = value if rule.type == "texts" else [value] if rule.type == "text" else ()
    if rule.choices:
        yield from (f"{word!r} is none of {', '.join(rule.choices)}" for word in words if word not in rule.choices)
    if rule.type == "sources" and origin == "packaged":
        yield from (f"{url!r} is not a URL" for url in value if not url.startswith(("https://", "http://")))


def _check_price(row: Row) -> Iterator[str]:
    has_range = "value_low" in row and "value_high" in row
    if "value" not in row and not has_range:
        yield "value is missing (or value_low with value_high)"
    if str(row.get("unit", "")).startswith("USD") and "currency" not in row:
        yield "currency is missing"


def _check_memory(row: Row) -> Iterator[str]:
    memory, nominal = row.get("memory_bytes"), row.get("memory_nominal_bytes")
    if isinstance(memory, int) and "memory_basis" not in row:
        yield "memory_basis is missing"
    # Nominal GB are read as GiB at most: more than 2^30/10^9 of them cannot be there.
    if isinstance(memory, int) and isinstance(nominal, int) and memory * 10**9 > nominal * 2**30:
        yield f"memory_bytes {memory} is above the nominal size read as GiB"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    # NaN is the one float that differs from itself.
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_sizes(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_int, value.values()))


def _is_date(value: Any) -> bool:
    if not isinstance(value, str) or len(value) not in _DATE_LENGTHS:
        return False
    return all(part.isdigit() for part in value.split("-")) and value[:2] in ("19", "20")


_TYPES: dict[str, Callable[[Any], bool]] = {
    "text": _is_text,
    "texts": _is_texts,
    "int": _is_int,
    "number": _is_number,
    "flag": lambda value: isinstance(value, bool),
    "sizes": _is_sizes,
    "date": _is_date,
    "sources": lambda value: bool(value) and _is_texts(value),
}
_WORDS = {
    "text": "a non-empty text",
    "texts": "a list of texts",
    "int": "an integer",
    "number": "a number",
    "flag": "true or false",
    "sizes": "a table of integers",
    "date": "a date like 2026, 2026-11 or 2026-11-30",
    "sources": "a non-empty list of sources",
}
