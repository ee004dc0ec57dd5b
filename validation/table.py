"""The accuracy table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from validation.sample import METRICS, Metric, Sample

COLUMNS = (0.01, 0.03, 0.10)
START, END = "<!-- accuracy:start -->", "<!-- accuracy:end -->"
HEAD = ("compared with", "rows", "answered", "median error", "within 1 %", "3 %", "10 %", "right")
LEGEND = (
    "Shares are of all rows asked; a row that is not answered counts as wrong. Right is an error of at most 3 %; for"
    " the size of the cache at most 1.5 GiB or 8 %, whichever is more; against vLLM's own modules 0.1 % for weights and"
    " 0.5 % for concurrency. Each row that is not right is explained in `validation/misses.md`."
)


@dataclass(frozen=True, slots=True)
class Line:
    """One metric summed up. Shares are fractions of the rows asked; None where a yes or no is compared."""

    metric: Metric
    asked: int
    answered: int
    median: float | None
    within: tuple[float | None, ...]
    right: float

    @property
    def right_percent(self) -> float:
        """The number that the gate keeps."""
        return round(100 * self.right, 1)


def summarize(samples: Iterable[Sample]) -> list[Line]:
    """Lines of all metrics that were asked, in their order."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.metric, []).append(sample)
    return [_line(metric, groups[metric.key]) for metric in METRICS if metric.key in groups]


def _line(metric: Metric, samples: Sequence[Sample]) -> Line:
    errors = [sample.error for sample in samples if sample.error is not None]
    asked = len(samples)
    is_yes_no = metric.kind == "verdict"
    return Line(
        metric=metric,
        asked=asked,
        answered=sum(sample.predicted is not None for sample in samples),
        median=median(errors) if errors else None,
        within=tuple(None if is_yes_no else sum(e <= limit for e in errors) / asked for limit in COLUMNS),
        right=sum(sample.is_right for sample in samples) / asked,
    )


def render_markdown(lines: Iterable[Line]) -> str:
    """The table for the README."""
    rows = [f"| {' | '.join(HEAD)} |", "|---|" + "--:|" * (len(HEAD) - 1)]
    rows += [f"| {' | '.join(_cells(line))} |" for line in lines]
    return "\n".join((*rows, "", LEGEND))


def _cells(line: Line) -> list[str]:
    middle = "" if line.median is None else f"{100 * line.median:.2f} %"
    shares = [_percent(share) for share in (*line.within, line.right)]
    return [line.metric.title, str(line.asked), str(line.answered), middle, *shares]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def put_between(text: str, table: str) -> str:
    """`text` with the part between the markers replaced; ValueError when a marker is missing."""
    head, start, rest = text.partition(START)
    _, end, tail = rest.partition(END)
    if not start or not end:
        raise ValueError(f"README: no markers: {START} and {END}")
    return f"{head}{START}\n{table}\n{END}{tail}"
