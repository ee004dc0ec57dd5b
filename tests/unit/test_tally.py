"""Counting."""

from __future__ import annotations

from tonnage.tally import tally


def test_counts_in_order_of_first_appearance() -> None:
    assert list(tally("abracadabra").items()) == [("a", 5), ("b", 2), ("r", 2), ("c", 1), ("d", 1)]


def test_nothing() -> None:
    assert tally(()) == {}


def test_equal_items_are_one() -> None:
    assert tally([1, 1.0, True, (1,), (1,)]) == {1: 3, (1,): 2}
