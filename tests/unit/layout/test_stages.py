"""Pipeline stages and experts per rank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.errors import LayoutError
from tonnage.layout.stages import experts_on_rank, split_layers


@pytest.mark.parametrize(
    ("layers", "pp", "sizes"),
    [
        (126, 2, [63, 63]),
        (61, 4, [15, 15, 16, 15]),  # remainder 1 goes to stage -2
        (62, 4, [15, 16, 16, 15]),  # remainder 2 to stages -2 and -3; first and last spared
        (63, 4, [16, 16, 16, 15]),
        (93, 8, [11, 11, 12, 12, 12, 12, 12, 11]),
    ],
)
def test_remainder_spares_the_last_stage(layers: int, pp: int, sizes: list[int]) -> None:
    assert [len(stage) for stage in split_layers(layers, pp)] == sizes


def test_oldest_rule_puts_the_remainder_last() -> None:
    assert [len(stage) for stage in split_layers(62, 4, spares_last=False)] == [15, 15, 15, 17]


def test_more_stages_than_layers_is_refused() -> None:
    with pytest.raises(LayoutError, match="at most 4 stages"):
        split_layers(4, 5)


@given(st.integers(1, 200), st.integers(1, 64), st.booleans())
def test_stages_cover_all_layers_once(layers: int, pp: int, spares: bool) -> None:
    if pp > layers:
        return
    stages = split_layers(layers, pp, spares)
    assert [index for stage in stages for index in stage] == list(range(layers))


def test_uneven_experts() -> None:
    # 896 experts over 24 ranks: 37 each, the first 8 ranks one more.
    held = [experts_on_rank(896, 24, rank) for rank in range(24)]
    assert held == [38] * 8 + [37] * 16
    assert sum(held) == 896


@given(st.integers(1, 1024), st.integers(1, 512))
def test_every_expert_has_a_home(experts: int, ep: int) -> None:
    held = [experts_on_rank(experts, ep, rank) for rank in range(ep)]
    assert sum(held) == experts
    assert max(held) - min(held) <= 1
