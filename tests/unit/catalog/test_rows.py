"""Tests of the rows for listing and showing."""

from __future__ import annotations

import json

import pytest

from tonnage.catalog.load import Catalog
from tonnage.catalog.rows import list_rows, show_row
from tonnage.catalog.schema import KINDS
from tonnage.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.schema import Kind


@pytest.mark.parametrize(("kind", "count"), [("accelerators", 106), ("nodes", 16), ("links", 29), ("prices", 139)])
def test_list_has_one_line_a_row(kind: Kind, count: int) -> None:
    rows = list_rows(Catalog(), kind)
    assert len(rows) == count
    assert len({tuple(row) for row in rows}) == 1
    json.dumps(rows)


def test_list_can_be_narrowed() -> None:
    ids = [row["id"] for row in list_rows(Catalog(), "accelerators", "MI3")]
    assert "amd-mi300x-192gb" in ids
    assert all("mi3" in key for key in ids)
    assert {row["item"] for row in list_rows(Catalog(), "prices", "mi325x")} == {"amd-mi325x-256gb"}
    assert list_rows(Catalog(), "nodes", "no such thing") == []


def test_list_keeps_raw_units_and_unknowns() -> None:
    rows = {row["id"]: row for row in list_rows(Catalog(), "accelerators")}
    assert rows["amd-mi300x-192gb"]["memory_bytes"] == 206_141_652_992
    assert rows["amd-mi350p"]["memory_bytes"] is None


def test_show_by_any_name() -> None:
    row = show_row(Catalog(), "accelerators", "h100 80gb")
    assert row["id"] == "nvidia-h100-sxm-80gb"
    assert row["source"][0].startswith("https://")
    assert show_row(Catalog(), "accelerators", "MI300X CPX")["id"] == "amd-mi300x-192gb"
    assert show_row(Catalog(), "links", "xgmi3-mesh")["topology"] == "mesh"


def test_show_hands_out_a_copy() -> None:
    catalog = Catalog()
    show_row(catalog, "nodes", "dgx-h100")["cards"] = 99
    assert show_row(catalog, "nodes", "dgx-h100")["cards"] == 8


@pytest.mark.parametrize("kind", KINDS)
def test_show_refuses_the_unknown(kind: Kind) -> None:
    with pytest.raises(UsageError, match="unknown"):
        show_row(Catalog(), kind, "no-such-row")


def test_show_refuses_a_card_without_a_row() -> None:
    with pytest.raises(UsageError, match="80GB card"):
        show_row(Catalog(), "accelerators", "80GB card")
