"""Tests of cards known only by their size."""

from __future__ import annotations

import pytest

from tonnage.catalog.anonymous import describe_size
from tonnage.catalog.load import Catalog

GIB = 2**30
ROWS = [
    {"vendor": "nvidia", "memory_bytes": 15 * GIB, "memory_nominal_bytes": 16 * 10**9},
    {"vendor": "nvidia", "memory_bytes": 14 * GIB, "memory_nominal_bytes": 16 * 10**9},
    {"vendor": "nvidia", "memory_bytes": 8 * GIB, "memory_nominal_bytes": 16 * 10**9},
    {"vendor": "amd", "memory_bytes": 16 * GIB, "memory_nominal_bytes": 16 * 10**9},
    {"vendor": "nvidia", "memory_bytes": 16 * GIB, "memory_nominal_bytes": 16 * 10**9, "is_unified_memory": True},
    {"vendor": "nvidia", "memory_nominal_bytes": 16 * 10**9},
]


@pytest.mark.parametrize(
    ("text", "memory_bytes", "vendor"),
    [
        ("16GB card", 14 * GIB, "nvidia"),  # middle of 8, 14, 15
        ("16 GB card", 14 * GIB, "nvidia"),
        ("about 16 GB card", 14 * GIB, "nvidia"),
        ("16GB-class card", 14 * GIB, "nvidia"),
        ("16 GiB class", 14 * GIB, "nvidia"),  # a class is a size as sold
        ("16 GB AMD card", 16 * GIB, "amd"),
        ("79.3 GiB card", 85_147_726_643, "nvidia"),  # 79.3 * 2^30
        # No such card known: 32 times the middle share, 14 GiB / 16 = 939,524,096 B a GB.
        ("32GB card", 32 * 939_524_096, "nvidia"),
    ],
)
def test_sizes(text: str, memory_bytes: int, vendor: str) -> None:
    card = describe_size(text, ROWS)
    assert card is not None
    assert (card.capacity_bytes, card.vendor) == (memory_bytes, vendor)
    assert (card.memory_basis, card.segment) == ("assumed", "anonymous")
    assert card.bandwidth_bytes_per_s is None
    assert not card.is_card_kind
    assert text in card.assumptions[0]


@pytest.mark.parametrize(
    "text",
    [
        *("", "card", "16GB", "16 GB", "GB card", "MI300X 16GB card", "1.2.3 GB card", "0 GB card", "-16 GB card"),
        *("99999 GB card", "16 MB card", "gib card", "sixteen GB card", "16 GB of hope", "1e9 GB card", "٣x GB card"),
    ],
)
def test_not_a_plain_size(text: str) -> None:
    assert describe_size(text, ROWS) is None


def test_packaged_sizes_are_near_the_known_cards() -> None:
    rows = Catalog().rows("accelerators").values()
    for size, low, high in ((8, 7.5, 8.0), (24, 22.0, 24.0), (80, 79.0, 80.0), (96, 94.0, 96.0), (141, 139.0, 141.0)):
        card = describe_size(f"{size} GB card", rows)
        assert card is not None
        assert low * GIB < card.capacity_bytes < high * GIB
