"""Tests of the check of rows against the schema."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.catalog.problem import Problem, check_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.schema import Kind

ORIGIN: dict[str, Any] = {"basis": "measured", "source": ["https://example.org"], "seen": "2026-11-30"}
GOOD: dict[Kind, dict[str, Any]] = {
    "accelerators": {
        "id": "a",
        "name": "A",
        "vendor": "amd",
        "segment": "datacenter",
        "memory_bytes": 64 * 10**9,
        "memory_basis": "measured",
        "memory_nominal_bytes": 64 * 10**9,
        "partitions": {"cpx": 8 * 10**9},
        **ORIGIN,
    },
    "nodes": {
        "id": "n",
        "name": "N",
        "accelerator": "a",
        "cards": 8,
        "cards_per_host": 8,
        "scale_up_domain": 8,
        **ORIGIN,
    },
    "links": {
        "id": "l",
        "name": "L",
        "bytes_per_s_per_direction": 10**11,
        "topology": "mesh",
        "max_cards": 8,
        **ORIGIN,
    },
    "prices": {
        "id": "p",
        "kind": "rent",
        "item": "a",
        "value": 2.5,
        "unit": "USD/card-hour",
        "currency": "USD",
        "from": "2026-11",
        **ORIGIN,
    },
}


@pytest.mark.parametrize("kind", ["accelerators", "nodes", "links", "prices"])
def test_good_rows_pass(kind: Kind) -> None:
    assert check_rows(kind, [GOOD[kind]], "packaged") == []


@pytest.mark.parametrize(
    ("kind", "change", "text"),
    [
        ("accelerators", {"vram": 1}, "unknown key 'vram'"),
        ("accelerators", {"memory_bytes": 80}, "memory_bytes: 80 is outside"),
        ("accelerators", {"memory_bytes": 70 * 10**9}, "above the nominal size"),  # 64 GiB is 68.7e9
        ("accelerators", {"memory_bytes": True}, "True is not an integer"),
        ("accelerators", {"memory_bytes": 64e9}, "is not an integer"),
        ("accelerators", {"bandwidth_bytes_per_s": 5300}, "5300 is outside"),  # GB/s given for B/s
        ("accelerators", {"peak_bf16_flops_per_s": 1307}, "1307 is outside"),  # Tflop/s given for flop/s
        ("accelerators", {"tdp_watts": 0}, "tdp_watts: 0 is outside"),
        ("accelerators", {"vendor": "matrox"}, "'matrox' is none of"),
        ("accelerators", {"unsupported": ["fp8", "fp12"]}, "'fp12' is none of"),
        ("accelerators", {"unsupported": "fp8"}, "'fp8' is not a list of texts"),
        ("accelerators", {"aliases": [""]}, "is not a list of texts"),
        ("accelerators", {"partitions": {"cpx": 5}}, "5 is outside"),
        ("accelerators", {"partitions": ["cpx"]}, "is not a table of integers"),
        ("accelerators", {"is_unified_memory": 1}, "1 is not true or false"),
        ("accelerators", {"name": "  "}, "is not a non-empty text"),
        ("accelerators", {"source": "https://example.org"}, "is not a non-empty list of sources"),
        ("accelerators", {"source": ["a friend"]}, "'a friend' is not a URL"),
        ("accelerators", {"seen": "yesterday"}, "'yesterday' is not a date"),
        ("accelerators", {"seen": "30.11.2026"}, "is not a date"),
        ("accelerators", {"basis": "rumour"}, "'rumour' is none of"),
        ("nodes", {"cards": 0}, "cards: 0 is outside"),
        ("nodes", {"power_watts": 10}, "10 is outside"),  # kW given for W
        ("links", {"topology": "ring"}, "'ring' is none of"),
        ("prices", {"value": -1}, "-1 is outside"),
        ("prices", {"value": float("nan")}, "nan is not a number"),
        ("prices", {"value": float("inf")}, "inf is outside"),
        ("prices", {"unit": "EUR"}, "'EUR' is none of"),
        ("prices", {"from": "soon"}, "'soon' is not a date"),
    ],
)
def test_bad_values(kind: Kind, change: dict[str, Any], text: str) -> None:
    problems = check_rows(kind, [{**GOOD[kind], **change}], "packaged")
    assert len(problems) == 1
    assert text in problems[0].text
    assert problems[0].row == GOOD[kind]["id"]


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        *(("accelerators", key) for key in ("id", "name", "vendor", "basis", "source", "seen", "memory_basis")),
        *(("nodes", key) for key in ("accelerator", "cards", "scale_up_domain")),
        *(("links", key) for key in ("bytes_per_s_per_direction", "topology")),
        *(("prices", key) for key in ("kind", "item", "value", "unit", "currency")),
    ],
)
def test_missing_keys(kind: Kind, key: str) -> None:
    row = {name: value for name, value in GOOD[kind].items() if name != key}
    assert next(problem.text for problem in check_rows(kind, [row], "packaged")).startswith(f"{key} is missing")


def test_a_range_stands_for_a_value() -> None:
    row = {key: value for key, value in GOOD["prices"].items() if key != "value"}
    assert check_rows("prices", [{**row, "value_low": 1, "value_high": 2}], "packaged") == []
    assert len(check_rows("prices", [{**row, "value_low": 1}], "packaged")) == 1


def test_duplicate_ids() -> None:
    problems = check_rows("links", [GOOD["links"], GOOD["links"]], "packaged")
    assert problems == [Problem("links", "l", "id appears twice")]


def test_rows_of_users_may_name_any_source() -> None:
    row = {**GOOD["accelerators"], "source": ["invoice 17"]}
    assert check_rows("accelerators", [row], "overlay") == []
    undated = {key: value for key, value in row.items() if key != "seen"}
    assert check_rows("accelerators", [undated], "own") == []
    assert len(check_rows("accelerators", [undated], "overlay")) == 1
