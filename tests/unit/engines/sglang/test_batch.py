from __future__ import annotations

import pytest

from tonnage.engines.sglang.batch import BatchLimits, batch_limits
from tonnage.engines.sglang.version import NEWEST, Version

GIB = 2**30


@pytest.mark.parametrize(
    ("gib", "tp", "chunk", "batch"),
    [
        (15, 1, 2048, 8),
        (15, 8, 2048, 8),
        (24, 1, 4096, 48),
        (32, 4, 4096, 160),
        (45, 1, 4096, 32),
        (45, 8, 4096, 160),
        (79, 1, 8192, 256),
        (79, 4, 8192, 512),
        (140, 2, 8192, 256),
        (140, 8, 8192, 512),
        (178, 1, 16384, 512),
        (288, 8, 16384, 512),
    ],
)
def test_tiers_of_the_newest_version(gib: int, tp: int, chunk: int, batch: int) -> None:
    assert batch_limits(NEWEST, gib * GIB, tp) == BatchLimits(chunk, batch)


@pytest.mark.parametrize(("tp", "batch"), [(1, 16), (4, 80)])
def test_small_cards_before_the_second_tier_grew(tp: int, batch: int) -> None:
    assert batch_limits(Version(0, 5, 3), 24 * GIB, tp) == BatchLimits(2048, batch)


@pytest.mark.parametrize(
    ("gib", "tp", "chunk", "batch"), [(22, 1, 2048, 8), (22, 4, 2048, 80), (79, 1, 8192, 160), (192, 8, 8192, 160)]
)
def test_two_sizes_before_the_tiers(gib: int, tp: int, chunk: int, batch: int) -> None:
    assert batch_limits(Version(0, 4, 6), gib * GIB, tp) == BatchLimits(chunk, batch)


def test_what_a_user_asks_for_replaces_the_default() -> None:
    limits = BatchLimits(8192, 256)
    assert limits.asked(None, False) == limits
    assert limits.asked(1024, False) == BatchLimits(1024, 256)
    assert limits.asked(None, True) == BatchLimits(8192, 0)
