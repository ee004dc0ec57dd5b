"""The largest number that fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.memory.search import find_largest


@pytest.mark.parametrize(("limit", "largest", "found"), [(10, 7, 7), (10, 10, 10), (10, 99, 10), (10, 0, 0), (0, 5, 0)])
def test_the_largest_that_fits(limit: int, largest: int, found: int) -> None:
    assert find_largest(limit, lambda number: number <= largest) == found


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_few_are_asked(limit: int, largest: int) -> None:
    asked: list[int] = []

    def fits(number: int) -> bool:
        asked.append(number)
        return number <= largest

    assert find_largest(limit, fits) == min(limit, largest)
    assert len(asked) <= limit.bit_length()
    assert 0 not in asked
