"""The committed rows: what was asked of an engine and what it printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "rows"
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement with its origin.

    `question` has the fields of a batch question. `measured` has what the engine printed, the unit in the name.
    `started` is whether it came up, None where that cannot be asked; `is_refused` marks a pool that was too small.
    """

    id: str
    basis: str
    source: str
    seen: str
    question: Record
    measured: Record
    started: bool | None = None
    is_refused: bool = False


def load_rows(kind: str) -> list[Row]:
    """Rows of one file; a first line `{"common": ...}` holds what all others share."""
    lines = (FOLDER / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.strip()]
    common: Record = {}
    if records and "common" in records[0]:
        common = records.pop(0)["common"]
    return [_row(record, common) for record in records]


def _row(record: Record, common: Record) -> Row:
    whole = common | record
    return Row(
        id=whole["id"],
        basis=whole["basis"],
        source=whole["source"],
        seen=whole["seen"],
        question=common.get("question", {}) | record["question"],
        measured=whole["measured"],
        started=whole.get("started"),
        is_refused=whole.get("refused", False),
    )
