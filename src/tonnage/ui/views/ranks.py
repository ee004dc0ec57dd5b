"""Equal ranks together, and the picture of them: bars, legend."""

from __future__ import annotations

from tonnage.ui.views.bar import draw_bar, segments_of
from tonnage.ui.views.screen import Span, shorten, wrap_row
from tonnage.units import GIB, render_gib
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tonnage.ui.views.bar import Segment
    from tonnage.ui.views.screen import Row

MAX_BARS = 4  # more would push the numbers that decide off a screen of 24 lines
MAX_LABEL_SHARE = 3  # a third of the line at most, the bar needs the rest
_MIN_CELLS = 8


@value
class Group:
    """Ranks that look the same at the rounding of the legend."""

    numbers: tuple[int, ...]
    card_bytes: int
    segments: tuple[Segment, ...]

    @property
    def used_bytes(self) -> int:
        """What the group's parts take on one card."""
        return sum(part.bytes for part in self.segments if part.role != "free")

    @property
    def label(self) -> str:
        """`rank 0-7`."""
        return f"rank {number_words(self.numbers)}"


def group_ranks(ranks: Sequence[Mapping[str, Any]]) -> list[Group]:
    """Groups in the order of their first rank."""
    found: dict[object, list[Mapping[str, Any]]] = {}
    for rank in ranks:
        key = (f"{rank['card_bytes'] / GIB:.1f}", tuple((part.role, part.gib) for part in segments_of(rank)))
        found.setdefault(key, []).append(rank)
    return [
        Group(tuple(rank["rank"] for rank in same), same[0]["card_bytes"], segments_of(same[0]))
        for same in found.values()
    ]


def number_words(numbers: Sequence[int]) -> str:
    """`0`, `0-7`, `0,2,4-7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def picture_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    """Bars of the distinct ranks and a legend; nothing where no ledger could be computed."""
    groups = group_ranks(answer.get("ranks") or ())
    if not groups:
        return []
    busiest = _busiest(groups, answer.get("busiest_rank"))
    legend = _legend_rows(busiest, len(groups) > 1, width)
    if len(groups) == 1:
        return [*_single_rows(groups[0], width), *legend]
    return [*_several_rows(groups, busiest, width), *legend]


def _single_rows(group: Group, width: int) -> list[Row]:
    label = f" rank {group.numbers[0]}  "
    rows = [_bar_row(label, group, width)]
    if len(group.numbers) > 1:
        rows += wrap_row(f" rank {number_words(group.numbers[1:])} the same", width, "dim")
    return rows


def _several_rows(groups: list[Group], busiest: Group, width: int) -> list[Row]:
    fullest = sorted(groups, key=lambda group: (group is not busiest, -group.used_bytes))[:MAX_BARS]
    shown = [group for group in groups if group in fullest]
    labels = [shorten(group.label, width // MAX_LABEL_SHARE) for group in shown]
    column = max(map(len, labels)) + 3
    rows = [_bar_row(f" {label}".ljust(column), group, width) for label, group in zip(labels, shown, strict=True)]
    rest = [group for group in groups if group not in fullest]
    if rest:
        count = sum(len(group.numbers) for group in rest)
        low, high = (render_gib(pick(group.used_bytes for group in rest)) for pick in (min, max))
        rows += wrap_row(f" {count} more ranks hold {low} to {high}", width, "dim")
    return rows


def _bar_row(label: str, group: Group, width: int) -> Row:
    card = f"  {render_gib(group.card_bytes)}"
    cells = max(_MIN_CELLS, width - len(label) - len(card))
    return (Span(label, "label"), *draw_bar(group.segments, group.card_bytes, cells), Span(card))


def _busiest(groups: list[Group], number: int | None) -> Group:
    return next((group for group in groups if number in group.numbers), groups[0])


def _legend_rows(group: Group, is_named: bool, width: int) -> list[Row]:
    start = f"GiB on rank {group.numbers[0]}:" if is_named else "GiB a card:"
    over = group.used_bytes - group.card_bytes
    items: list[Row] = [(Span(part.glyph, part.role), Span(f" {part.words} {part.gib}")) for part in group.segments]
    if over > 0:
        items.append((Span("|", "edge"), Span(f" beyond the card {over / GIB:,.1f}", "bad")))
    return _flow(start, items, width)


def _flow(start: str, items: Sequence[Row], width: int) -> list[Row]:
    """Items side by side, a new line where the next would not fit whole."""
    indent = "   "
    rows, current, used = [], [Span(indent + start, "dim")], len(indent + start)
    for item in items:
        size = sum(len(span.text) for span in item) + 2
        if used + size > width:
            rows.append(tuple(current))
            current, used = [Span(indent[:-2])], len(indent) - 2
        current += [Span("  "), *item]
        used += size
    return [*rows, tuple(current)]
