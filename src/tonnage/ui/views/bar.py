"""One rank as a bar: the lines of its ledger to scale against its card."""

from __future__ import annotations

from tonnage.ui.views.screen import Span
from tonnage.units import GIB
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from tonnage.ui.views.screen import Role, Row


@value
class Segment:
    """One part of a bar, in bytes."""

    role: Role
    words: str
    glyph: str
    bytes: int

    @property
    def gib(self) -> str:
        """The size as the legend shows it, in GiB."""
        return f"{self.bytes / GIB:,.1f}"


# Role, words, glyph and the ledger lines that are drawn together.
_PARTS: tuple[tuple[Role, str, str, tuple[str, ...]], ...] = (
    ("weights", "weights", "█", ("weights",)),
    ("draft", "draft model", "▚", ("draft",)),
    ("kv_cache", "KV cache", "▓", ("kv_cache",)),
    ("activations", "activations", "▒", ("activations", "multimodal")),
    ("buffers", "graphs, links, runtime", "░", ("cuda_graphs", "communication", "context", "other")),
)
_EDGE = "|"


def segments_of(rank: Mapping[str, Any]) -> tuple[Segment, ...]:
    """The parts of a rank's ledger that take room, in drawing order, and what is free at the end."""
    lines = rank.get("lines") or ()
    sizes = ((part, sum(line["bytes"] for line in lines if line["name"] in part[3])) for part in _PARTS)
    parts = [Segment(role, words, glyph, size) for (role, words, glyph, _), size in sizes if size > 0]
    free = rank["card_bytes"] - sum(part.bytes for part in parts)
    return (*parts, Segment("free", "free", "·", free)) if free > 0 else tuple(parts)


def draw_bar(segments: Sequence[Segment], card_bytes: int, cells: int) -> Row:
    """A bar of `cells` characters; where the parts exceed the card, `|` stands at the end of the card."""
    total = sum(segment.bytes for segment in segments)
    if total <= card_bytes:
        return tuple(_cut(segments, 0, card_bytes, cells))
    inside = min(max(1, round(card_bytes * (cells - 1) / total)), cells - 2)
    outside = cells - 1 - inside
    before, after = _cut(segments, 0, card_bytes, inside), _cut(segments, card_bytes, total, outside)
    return (*before, Span(_EDGE, "edge"), *after)


def _cut(segments: Sequence[Segment], start: int, end: int, cells: int) -> Iterator[Span]:
    """The spans of the bytes from `start` to `end`, rounded at each boundary so that the cells always add up."""
    position, drawn = 0, 0
    for segment in segments:
        position += segment.bytes
        reach = min(max(position, start), end) - start
        upto = round(reach * cells / max(1, end - start))
        if upto > drawn:
            yield Span(segment.glyph * (upto - drawn), segment.role)
        drawn = max(drawn, upto)
