"""Tests of folding and looking up names."""

from __future__ import annotations

import pytest

from tonnage.catalog.load import Catalog
from tonnage.catalog.names import build_index, fold, is_assumed, list_spellings, look_up, nearest_names, refuse_name
from tonnage.errors import UsageError


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("H100 80GB", "h10080gb"),
        ("NVIDIA GeForce RTX 4090 D", "rtx4090d"),
        ("Tesla T4", "t4"),
        ("A100-SXM4-80GB", "a100sxm480gb"),
        ("MI355X class (gfx950)", "mi355xgfx950"),
        ("H20-3e (141GB)", "h203e141gb"),
        ("NVIDIA", "nvidia"),  # nothing but filler words: kept
        ("", ""),
        ("  ", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_every_spelling_of_every_row_resolves_to_it() -> None:
    catalog = Catalog()
    for row in catalog.rows("accelerators").values():
        for spelling in list_spellings(row):
            assert look_up(catalog.index, spelling) == row["id"]
            assert look_up(catalog.index, spelling.upper()) == row["id"]
            assert look_up(catalog.index, f"  {spelling.lower()} ") == row["id"]


def test_short_names_that_leave_a_choice_are_marked() -> None:
    rows = Catalog().rows("accelerators")
    assert is_assumed(rows["nvidia-h100-sxm-80gb"], "h100")
    assert not is_assumed(rows["nvidia-h100-sxm-80gb"], "H100 80GB")


def test_ambiguous_spelling_lists_all_owners() -> None:
    index = build_index([{"id": "one", "name": "Same"}, {"id": "two", "name": "SAME"}])
    with pytest.raises(UsageError, match="one of one, two"):
        look_up(index, "same")


def test_unknown_is_none() -> None:
    assert look_up(Catalog().index, "Voodoo 2") is None
    assert look_up(Catalog().index, "") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MI35", "Instinct MI350X"),  # a beginning
        ("H1000", "H100 SXM5 80GB"),
        ("MI399X", "Instinct MI355X"),
        ("RTX 409", "GeForce RTX 4090"),
        ("L40 S2", "L40S 48GB"),
    ],
)
def test_nearest_names(text: str, expected: str) -> None:
    near = nearest_names(Catalog().rows("accelerators").values(), text)
    assert expected in near
    assert len(near) == len(set(near)) <= 4


def test_refusal_is_one_line_with_the_nearest() -> None:
    error = refuse_name(Catalog().rows("accelerators").values(), "MI399X")
    assert isinstance(error, UsageError)
    assert error.code == 2
    assert "MI399X" in error.line
    assert "nearest: Instinct MI3" in error.line
    assert "\n" not in error.line


def test_refusal_without_neighbours_points_to_the_list() -> None:
    rows = Catalog().rows("accelerators").values()
    assert "tonnage catalog list" in refuse_name(rows, "not shown").line
    assert len(refuse_name(rows, "x" * 100_000).line) < 400
