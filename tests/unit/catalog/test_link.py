"""Tests of links: rates are one way."""

from __future__ import annotations

import pytest

from tonnage.catalog.link import build_link
from tonnage.catalog.load import Catalog


# Published figures count both directions: 900 -> 450, 1800 -> 900, 600 -> 300, 896 -> 448, 1071 -> 535.5 GB/s.
@pytest.mark.parametrize(
    ("link_id", "bytes_per_s", "pair", "topology", "max_cards"),
    [
        ("nvlink4-switch", 450_000_000_000, 450_000_000_000, "switch", 8),
        ("nvlink5-switch", 900_000_000_000, 900_000_000_000, "switch", 8),
        ("nvlink5-nvl72", 900_000_000_000, 900_000_000_000, "switch", 72),
        ("nvlink3-switch", 300_000_000_000, 300_000_000_000, "switch", 8),
        ("xgmi3-mesh", 448_000_000_000, 64_000_000_000, "mesh", 8),  # 7 * 64
        ("xgmi4-mesh", 535_500_000_000, 76_500_000_000, "mesh", 8),  # 7 * 76.5
        ("pcie4-x16", 31_500_000_000, 31_500_000_000, "bus", 16),
        ("nvlink3-bridge-ga102", 56_250_000_000, 56_250_000_000, "pairs", 2),  # 112.5 / 2
    ],
)
def test_rates_are_one_way(link_id: str, bytes_per_s: int, pair: int, topology: str, max_cards: int) -> None:
    link = Catalog().links[link_id]
    assert (link.bytes_per_s, link.pair_bytes_per_s) == (bytes_per_s, pair)
    assert (link.topology, link.max_cards) == (topology, max_cards)


def test_unknown_pair_rate_is_none() -> None:
    assert Catalog().links["ub-910c"].pair_bytes_per_s is None


def test_build_link() -> None:
    row = {
        "id": "wire",
        "name": "Wire",
        "bytes_per_s_per_direction": 5_000_000_000,
        "topology": "bus",
        "max_cards": 4,
        "basis": "measured",
        "source": ["https://example.org/wire"],
        "seen": "2026-01-02",
        "note": "short",
    }
    link = build_link(row)
    assert (link.bytes_per_s, link.pair_bytes_per_s, link.note) == (5_000_000_000, None, "short")
    assert link.sources == ("https://example.org/wire",)
