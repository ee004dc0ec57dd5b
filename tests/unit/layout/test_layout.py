"""Layouts: sizes, words, refusals."""

import pytest

from tonnage.errors import UsageError
from tonnage.layout.layout import MAX_WORLD, Layout


@pytest.mark.parametrize(
    ("layout", "world", "per_stage", "words"),
    [
        (Layout(), 1, 1, "TP1"),
        (Layout(tp=8), 8, 8, "TP8"),
        (Layout(tp=8, pp=2), 16, 8, "TP8 x PP2"),
        (Layout(dp=8, ep=True), 8, 8, "DP8 x EP"),
        (Layout(tp=4, dp=2, ep=True), 8, 8, "TP4 x DP2 x EP"),
        # SGLang's attention replicas divide the tensor-parallel group instead of multiplying it.
        (Layout(tp=8, dp=8, dp_inside_tp=True), 8, 8, "TP8 x DP8"),
        (Layout(tp=16, dcp=2), 16, 16, "TP16 x DCP2"),
    ],
)
def test_sizes(layout: Layout, world: int, per_stage: int, words: str) -> None:
    assert layout.world == world
    assert layout.ranks_per_stage == per_stage
    assert layout.words == words


@pytest.mark.parametrize("name", ["tp", "pp", "dp", "dcp"])
@pytest.mark.parametrize("size", [0, -1, MAX_WORLD + 1])
def test_absurd_sizes_are_refused(name: str, size: int) -> None:
    with pytest.raises(UsageError, match=name):
        Layout(**{name: size})


def test_negative_redundancy_is_refused() -> None:
    with pytest.raises(UsageError, match="redundant"):
        Layout(redundant_experts=-1)
