"""Answers that come back from a file."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnreadableError
from tonnage.plan.against import check_answer

LINE = {"name": "weights", "bytes": 5}
RANK = {"rank": 0, "budget_bytes": None, "lines": [LINE]}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"ranks": [RANK, RANK], "busiest_rank": 0, "unknown": {"a": [1]}},
        {"lines": [LINE], "max_concurrency_x": 1.5, "fits": False, "layout": None, "fleet": {"count": 2}},
        {"ranks": [], "model": {"id": "a", "quantization": 3}, "kv_cache_tokens": None},
    ],
)
def test_what_fit_writes_passes(answer: dict[str, Any]) -> None:
    check_answer(answer)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"ranks": 1}, "answer.ranks: 1"),
        ({"ranks": {"a": 1}}, "answer.ranks: {'a': 1}"),
        ({"ranks": [1]}, "answer.ranks[0]: 1"),
        ({"ranks": [{}]}, "answer.ranks[0].rank: absent"),
        ({"ranks": [{**RANK, "budget_bytes": "x"}]}, "answer.ranks[0].budget_bytes: 'x'"),
        ({"ranks": [{"rank": True}]}, "answer.ranks[0].rank: True"),
        ({"lines": [LINE, {"name": "weights"}]}, "answer.lines[1].bytes: absent"),
        ({"lines": [{"name": [], "bytes": 1}]}, "answer.lines[0].name: []"),
        ({"lines": [{"name": "a", "bytes": 1.5}]}, "answer.lines[0].bytes: 1.5"),
        ({"lines": [{"name": "a", "bytes": 1 << 62}]}, "answer.lines[0].bytes: 4611686018427387904"),
        ({"busiest_rank": []}, "answer.busiest_rank: []"),
        ({"model": 2}, "answer.model: 2"),
        ({"fleet": {"accelerator": [1]}}, "answer.fleet.accelerator: [1]"),
        ({"engine_version": 3}, "answer.engine_version: 3"),
        ({"fits": 1}, "answer.fits: 1"),
        ({"max_concurrency_x": float("inf")}, "answer.max_concurrency_x: inf"),
        ({"max_concurrency_x": float("nan")}, "answer.max_concurrency_x: nan"),
    ],
)
def test_other_files(answer: dict[str, Any], line: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        check_answer(answer)
    assert refused.value.line == f"{line}: an answer of `tonnage fit --json`"
