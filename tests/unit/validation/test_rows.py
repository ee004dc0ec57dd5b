"""Committed rows and how they are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from validation import rows
from validation.rows import Row, load_rows

ROW = {"id": "a", "basis": "measured", "source": "https://example.org", "seen": "2026-11-30"}


def write(folder: Path, *records: dict[str, object]) -> None:
    (folder / "kind.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(rows, "FOLDER", tmp_path)
    return tmp_path


def test_a_row(folder: Path) -> None:
    write(folder, ROW | {"question": {"model": "m"}, "measured": {"tokens": 1}, "started": True, "refused": True})
    assert load_rows("kind") == [
        Row("a", "measured", "https://example.org", "2026-11-30", {"model": "m"}, {"tokens": 1}, True, True)
    ]


def test_what_is_not_there_is_unknown(folder: Path) -> None:
    write(folder, ROW | {"question": {}, "measured": {}})
    assert load_rows("kind")[0].started is None


def test_a_first_line_for_all(folder: Path) -> None:
    common = {"basis": "b", "source": "s", "seen": "d", "question": {"gpu": "CPU", "tp": 1}}
    write(folder, {"common": common}, {"id": "x", "question": {"tp": 2}, "measured": {}})
    assert load_rows("kind") == [Row("x", "b", "s", "d", {"gpu": "CPU", "tp": 2}, {})]


def test_a_row_without_origin_is_refused(folder: Path) -> None:
    write(folder, {"id": "a", "question": {}, "measured": {}})
    with pytest.raises(KeyError, match="basis"):
        load_rows("kind")


def test_committed_files_hold_what_a_question_may_hold() -> None:
    from tonnage.plan.question import Question

    for kind in ("vllm", "sglang", "llamacpp", "oracle"):
        for row in load_rows(kind):
            assert Question.from_record(row.question).model == row.question["model"]
