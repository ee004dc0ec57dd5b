"""Catalogue rows on a screen."""

from __future__ import annotations

from tonnage.ui.views.catalog import list_rows, problem_rows, show_rows
from tonnage.ui.views.screen import plain_text

GIB = 2**30


def test_list_of_cards() -> None:
    row = {"id": "amd-mi300x", "name": "MI300X", "memory_bytes": 192 * GIB, "memory_basis": "measured"}
    lines = [plain_text(row) for row in list_rows("accelerators", [row | {"bandwidth_bytes_per_s": 53 * 10**11}], 100)]
    assert lines[1].split() == ["MI300X", "192.0", "GiB", "measured", "5,300.0", "GB/s", "amd-mi300x"]
    assert lines[2] == "1 accelerators"


def test_unknown_stays_unknown() -> None:
    lines = [plain_text(row) for row in list_rows("nodes", [{"id": "n", "cards": None}], 100)]
    assert "unknown" in lines[1]


def test_one_row_in_full() -> None:
    row = {"id": "x", "aliases": ["a", "b"], "tdp_watts": 1000, "is_unified_memory": True, "source": []}
    assert [plain_text(line) for line in show_rows(row, 80)] == [
        " id                 x",
        " aliases            a",
        "                    b",
        " tdp_watts          1,000",
        " is_unified_memory  True",
    ]


def test_problems() -> None:
    assert plain_text(problem_rows([], 80)[0]) == "the catalogue is in order"
    assert [plain_text(row) for row in problem_rows(["nodes: x: id appears twice"], 80)] == [
        "nodes: x: id appears twice"
    ]


MODEL = {
    "id": "deepseek-ai/DeepSeek-V3",
    "parameters": 671_026_419_200,
    "active": 36_700_000_000,
    "layers": 61,
    "kv_bytes_per_token": 70_272,
    "max_context": 163_840,
    "stored_bytes": 640 * GIB,
    "stored_bits": [8, 16],
}


def test_models() -> None:
    lines = [plain_text(row) for row in list_rows("models", [MODEL], 100)]
    assert lines[0].split("  ")[0] == "model"
    assert lines[1].split() == [
        "deepseek-ai/DeepSeek-V3", "671.0", "bn", "36.7", "bn", "70,272", "B", "163,840", "640.0", "GiB", "8,", "16",
    ]  # fmt: skip


def test_models_on_eighty_columns_go_without_organisation_and_size() -> None:
    lines = [plain_text(row) for row in list_rows("models", [MODEL, MODEL | {"id": "o/" + "x" * 60}], 80)]
    assert lines[1].startswith("DeepSeek-V3 ")
    assert "GiB" not in lines[1]
    assert max(map(len, lines)) <= 80


def test_a_model_in_full() -> None:
    row = {
        "parameters": {"total": 2_779_900_000_000, "towers": 0}, "state_bytes_per_request": 2**30,
        "kv_bytes_per_token": 27_648, "arch": {"layers": []}, "seen": None, "partitions": {"dpx": 144 * GIB},
    }  # fmt: skip
    assert [" ".join(plain_text(line).split()) for line in show_rows(row, 80)] == [
        "parameters 2,779.9 bn total",
        "state_bytes_per_request 1.0 GiB",
        "kv_bytes_per_token 27,648 B",
        "partitions 144.0 GiB dpx",
    ]
