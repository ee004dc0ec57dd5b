"""Bars to scale."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tonnage.ui.views.bar import Segment, draw_bar, segments_of
from tonnage.ui.views.screen import plain_text


def sizes(rank: dict[str, Any]) -> dict[str, int]:
    """Bytes by role."""
    return {part.role: part.bytes for part in segments_of(rank)}


def make_rank(card: int, **lines: int) -> dict[str, Any]:
    """A rank of small numbers of bytes."""
    return {"rank": 0, "card_bytes": card, "lines": [{"name": name, "bytes": size} for name, size in lines.items()]}


def test_lines_are_drawn_together() -> None:
    rank = make_rank(100, weights=50, kv_cache=20, activations=3, multimodal=2, cuda_graphs=1, context=4, other=5)
    # activations 3 + 2, buffers 1 + 4 + 5, free 100 - 85
    assert sizes(rank) == {"weights": 50, "kv_cache": 20, "activations": 5, "buffers": 10, "free": 15}


def test_no_free_part_when_the_card_is_full_and_no_part_below_zero() -> None:
    assert sizes(make_rank(100, weights=100)) == {"weights": 100}
    assert sizes(make_rank(100, weights=120, kv_cache=-30)) == {"weights": 120}


def test_bar_to_scale() -> None:
    rank = make_rank(100, weights=50, kv_cache=20, context=10)
    assert plain_text(draw_bar(segments_of(rank), 100, 10)) == "█████▓▓░··"


def test_edge_of_the_card_is_marked() -> None:
    # 150 over a card of 100: 2/3 of the 15 cells before the mark
    assert plain_text(draw_bar(segments_of(make_rank(100, weights=150)), 100, 16)) == "█" * 10 + "|" + "█" * 5
    # barely over: one cell beyond the mark all the same
    assert plain_text(draw_bar(segments_of(make_rank(1000, weights=1001)), 1000, 10)) == "█" * 8 + "|" + "█"


@given(st.lists(st.integers(0, 10**12), min_size=3, max_size=3), st.integers(1, 10**12), st.integers(8, 120))
def test_a_bar_always_fills_its_cells(parts: list[int], card: int, cells: int) -> None:
    rank = make_rank(card, weights=parts[0], kv_cache=parts[1], context=parts[2])
    row = draw_bar(segments_of(rank), card, cells)
    assert sum(len(span.text) for span in row) == cells
    assert ("|" in plain_text(row)) == (sum(parts) > card)


def test_gib_of_a_segment() -> None:
    assert Segment("weights", "weights", "█", 2**30 * 3 // 2).gib == "1.5"
