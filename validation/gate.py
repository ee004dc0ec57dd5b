"""The accuracy that must not be lost: one number per metric, the percentage of rows that are right."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from validation.table import Line

GATE = Path(__file__).resolve().parent / "gate.toml"
HEADER = "# Percentage of the asked rows that are right, written by `python -m validation --write-gate`.\n"


def read_gate() -> dict[str, float]:
    """Percentages by metric."""
    return {key: float(value) for key, value in tomllib.loads(GATE.read_text(encoding="utf-8")).items()}


def write_gate(lines: Iterable[Line]) -> None:
    """Make today's accuracy the one to keep."""
    rows = (f"{line.metric.key} = {line.right_percent}\n" for line in lines)
    GATE.write_text(HEADER + "".join(rows), encoding="utf-8")


def find_losses(lines: Iterable[Line], gate: dict[str, float]) -> list[str]:
    """One sentence per metric that fell below the gate or is no longer asked."""
    now = {line.metric.key: line.right_percent for line in lines}
    losses = [f"{key}: {now[key]} % right, {kept} % before" for key, kept in gate.items() if now.get(key, kept) < kept]
    return losses + [f"{key}: not asked any more" for key in gate if key not in now]
