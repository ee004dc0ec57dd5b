"""The fields that scripts rely on, of a real answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from process import run_tonnage

LINE_NAMES = {
    "weights", "kv_cache", "activations", "cuda_graphs", "communication", "context", "draft", "multimodal", "other",
}  # fmt: skip
FIELDS = {
    "id", "fits", "verdict", "reason", "model", "fleet", "engine", "engine_version", "layout", "ranks", "busiest_rank",
    "weights_bytes_per_rank", "kv_cache_bytes_per_rank", "kv_bytes_per_token_per_rank", "kv_cache_tokens",
    "max_concurrency_x", "kv_needed_bytes", "max_context", "load_peak_bytes", "remedies", "notes",
}  # fmt: skip


@pytest.fixture(scope="module")
def answer(small_model: Path) -> dict[str, Any]:
    """The answer for eight billion parameters on two cards."""
    done = run_tonnage(["fit", str(small_model), "--on", "2xH100", "--tp", "2", "--json"])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_fields(answer: dict[str, Any]) -> None:
    assert set(answer) >= FIELDS


def test_ledgers_add_up(answer: dict[str, Any]) -> None:
    assert [rank["rank"] for rank in answer["ranks"]] == [0, 1]
    for rank in answer["ranks"]:
        assert {line["name"] for line in rank["lines"]} <= LINE_NAMES
        assert rank["card_bytes"] - sum(line["bytes"] for line in rank["lines"]) == rank["free_bytes"]
        assert all(line["low"] <= line["bytes"] <= line["high"] for line in rank["lines"])


def test_bytes_are_whole(answer: dict[str, Any]) -> None:
    wrong = [
        key for key, value in answer.items() if "bytes" in key and "per_token" not in key and type(value) is not int
    ]
    assert not wrong


def test_remedies_are_changes_of_a_question(answer: dict[str, Any]) -> None:
    for remedy in answer["remedies"]:
        assert set(remedy) >= {"change", "effect", "fits"}
