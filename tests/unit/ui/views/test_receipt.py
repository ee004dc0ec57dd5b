"""Measured beside predicted."""

from __future__ import annotations

from typing import Any

from tonnage.ui.views.receipt import receipt_rows, sizes_of
from tonnage.ui.views.screen import plain_text

GIB = 2**30
MEASURED: dict[str, Any] = {
    "engine": "vllm",
    "engine_version": "0.11.0",
    "lines": [{"name": "weights", "bytes": 100 * GIB}, {"name": "kv_cache", "bytes": 50 * GIB}],
    "kv_cache_tokens": 400_000,
    "max_concurrency_x": 3.05,
}
PREDICTED: dict[str, Any] = {
    "lines": [{"name": "weights", "bytes": 101 * GIB}, {"name": "context", "bytes": GIB}],
    "kv_cache_tokens": 396_000,
    "max_concurrency_x": None,
}


def lines_of(answer: dict[str, Any], width: int = 80) -> list[str]:
    """The receipt as plain lines, spaces squeezed."""
    return [" ".join(plain_text(row).split()) for row in receipt_rows(answer, width)]


def test_difference_in_percent_of_the_measurement() -> None:
    lines = lines_of(MEASURED | {"predicted": PREDICTED})
    assert lines[0] == "vLLM 0.11.0: how the start ended is not in the log"
    assert "weights 100.00 GiB 101.00 GiB +1.00 GiB +1.0 %" in lines  # 1 of 100
    assert "tokens in the cache 400,000 396,000 -1.0 %" in lines  # -4,000 of 400,000


def test_what_one_side_does_not_say() -> None:
    lines = lines_of(MEASURED | {"predicted": PREDICTED})
    assert "KV cache 50.00 GiB not said" in lines
    assert "runtime not said 1.00 GiB" in lines
    assert "requests at once 3.05 not said" in lines


def test_without_a_prediction_one_column() -> None:
    lines = lines_of(MEASURED)
    assert lines[2] == "line measured"
    assert "weights 100.00 GiB" in lines


def test_prediction_as_an_answer_with_ranks() -> None:
    answer = {"ranks": [{"rank": 3, "lines": PREDICTED["lines"]}], "busiest_rank": 3}
    assert sizes_of(answer) == {"weights": 101 * GIB, "context": GIB}


def test_lines_of_one_name_are_added_and_unknown_ones_left_out() -> None:
    record = {"lines": [{"name": "other", "bytes": 1}, {"name": "other", "bytes": 2}, {"name": "draft", "bytes": None}]}
    assert sizes_of(record) == {"other": 3}


def test_an_empty_log() -> None:
    assert lines_of({"lines": []})[-1] == "no line about memory"


def test_how_the_start_ended() -> None:
    assert lines_of(MEASURED | {"outcome": "started"})[0] == "vLLM 0.11.0 started"
    refused = lines_of(MEASURED | {"outcome": "refused", "refusal": "ValueError: too small"})
    assert refused[0] == "vLLM 0.11.0 did not start: ValueError: too small"


def test_what_the_prediction_is_about() -> None:
    fleet, layout = {"nodes": 1, "count": 8, "name": "H100"}, {"words": "TP8"}
    about = {"model": {"id": "a/Model-1"}, "fleet": fleet, "layout": layout, "engine": "vllm", "engine_version": "0.11"}
    lines = lines_of(MEASURED | {"predicted": PREDICTED | about})
    assert lines[1] == "predicted for Model-1 on 8 x H100, TP8, vLLM 0.11"


def test_lines_over_several_ranks() -> None:
    one, other = {"lines": MEASURED["lines"]}, {"lines": []}
    assert "2 ranks: the smallest cache, the largest of every other line" in lines_of(MEASURED | {"ranks": [other] * 2})
    # where one rank gives all lines, nothing is put together
    assert not any("ranks" in line for line in lines_of(MEASURED | {"ranks": [one, other]}))


def test_a_difference_that_rounds_to_nothing_has_no_minus() -> None:
    lines = lines_of(MEASURED | {"predicted": {"lines": [{"name": "weights", "bytes": 100 * GIB - 1}]}})
    assert "weights 100.00 GiB 100.00 GiB +0.00 GiB +0.0 %" in lines


def test_what_was_not_measured_and_takes_nothing_is_left_out() -> None:
    lines = lines_of(MEASURED | {"predicted": {"lines": [{"name": "communication", "bytes": 0}]}})
    assert not any(line.startswith("links") for line in lines)
