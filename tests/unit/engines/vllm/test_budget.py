"""The share of the card vLLM allows itself."""

from __future__ import annotations

import pytest

from tonnage.engines.vllm.budget import budget_bytes, counts_graphs, default_utilization
from tonnage.engines.vllm.version import Version


@pytest.mark.parametrize(
    ("version", "fraction"),
    [
        (Version(0, 6, 6), 0.90),
        (Version(0, 11), 0.90),
        (Version(0, 19, 1), 0.90),
        (Version(0, 20), 0.92),
        (Version(0, 33), 0.92),
    ],
)
def test_default_fraction(version: Version, fraction: float) -> None:
    assert default_utilization(version) == fraction


@pytest.mark.parametrize(
    ("version", "inside"),
    [(Version(0, 11), False), (Version(0, 19), False), (Version(0, 20), True), (Version(0, 33), True)],
)
def test_graphs_move_into_the_budget(version: Version, inside: bool) -> None:
    # The estimate exists from 0.18 on and is subtracted by default from 0.20 on.
    assert counts_graphs(version) is inside


@pytest.mark.parametrize(
    ("card", "fraction", "budget"),
    [
        (100, 0.9, 90),
        (101, 0.9, 91),  # 90.9 is rounded up
        (85_018_877_624, 0.5, 42_509_438_812),
        (85_018_877_624, 0.92, 78_217_367_415),  # 78,217,367,414.08
        (1000, 1.0, 1000),
    ],
)
def test_the_budget_is_rounded_up_to_a_byte(card: int, fraction: float, budget: int) -> None:
    assert budget_bytes(card, fraction) == budget
