"""Rows that are not right, each with the reason somebody found."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from tonnage.units import GIB
from validation.rows import load_rows
from validation.sample import BY_KEY, METRICS, Sample

PAGE = Path(__file__).resolve().parent / "misses.md"
REASONS = Path(__file__).resolve().parent / "reasons.toml"
IN_BYTES = ("weights", "pool", "needed", "file", "kv")
TITLE = (
    "# Rows that are not right, and why\n\n"
    "Written by `python -m validation --write-misses`; reasons are kept in `reasons.toml`.\n"
)


def read_reasons() -> dict[str, str]:
    """Reasons by row id, by `metric/row id` where one row misses for several, or by `prefix*` for a group of rows."""
    return tomllib.loads(REASONS.read_text(encoding="utf-8"))


def reason_of(sample: Sample, reasons: dict[str, str]) -> str | None:
    """The reason noted for a miss, the most special one; None where there is none."""
    for key in (f"{sample.metric}/{sample.row}", sample.row):
        if key in reasons:
            return reasons[key]
    groups = (key for key in reasons if key.endswith("*") and sample.row.startswith(key[:-1]))
    return reasons.get(next(groups, ""))


def list_misses(samples: Iterable[Sample]) -> list[Sample]:
    """Samples that are not right, by metric and row."""
    order = [metric.key for metric in METRICS]
    wrong = (sample for sample in samples if not sample.is_right)
    return sorted(wrong, key=lambda sample: (order.index(sample.metric), sample.row))


def render_misses(samples: Iterable[Sample]) -> str:
    """The page of all misses."""
    reasons, parts, current = read_reasons(), [TITLE], ""
    sources = {row.id: row.source for kind in ("vllm", "sglang", "llamacpp", "oracle") for row in load_rows(kind)}
    for sample in list_misses(samples):
        if sample.metric != current:
            current = sample.metric
            parts.append(f"\n## {BY_KEY[current].title}\n\n| row | seen | predicted | reason |\n|---|--:|--:|---|\n")
        reason = reason_of(sample, reasons) or "not explained yet"
        name = f"[{sample.row}]({sources[sample.row]})"
        parts.append(f"| {name} | {_value(sample, sample.seen)} | {_value(sample, sample.predicted)} | {reason} |\n")
    return "".join(parts)


def _value(sample: Sample, value: float | bool | None) -> str:
    if value is None:
        return "no answer"
    if isinstance(value, bool):
        return "fits" if value else "does not fit"
    if sample.metric.endswith(IN_BYTES):
        return f"{value / GIB:.2f} GiB"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"
