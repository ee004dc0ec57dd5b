"""Places of tensors in the data."""

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.extent import Extent, check_extents, check_gapless


def test_a_gapless_cover_passes_in_any_order() -> None:
    check_gapless([Extent(8, 12, "b"), Extent(0, 8, "a"), Extent(8, 8, "empty")], 12, "f")


@pytest.mark.parametrize(
    ("extents", "message"),
    [
        ([Extent(0, 8, "a"), Extent(7, 12, "b")], "starts at 7: byte 8"),
        ([Extent(0, 8, "a"), Extent(9, 12, "b")], "starts at 9: byte 8"),
        ([Extent(1, 12, "a")], "starts at 1: byte 0"),
        ([Extent(0, 11, "a")], "tensors end at byte 11 of the data: 12"),
        ([Extent(0, 13, "a")], "tensors end at byte 13 of the data: 12"),
        ([], "tensors end at byte 0 of the data: 12"),
    ],
)
def test_anything_else_is_refused(extents: list[Extent], message: str) -> None:
    with pytest.raises(UnreadableError, match=message):
        check_gapless(extents, 12, "f")


def test_gaps_are_fine_where_tensors_are_aligned() -> None:
    check_extents([Extent(32, 40, "b"), Extent(0, 8, "a")], 64, "f")


def test_overlap_and_overrun_are_refused() -> None:
    with pytest.raises(UnreadableError, match="'b': starts at 4: byte 8"):
        check_extents([Extent(0, 8, "a"), Extent(4, 6, "b")], 64, "f")
    with pytest.raises(UnreadableError, match="'b': ends at 65: an end within the 64 bytes"):
        check_extents([Extent(0, 8, "a"), Extent(32, 65, "b")], 64, "f")
