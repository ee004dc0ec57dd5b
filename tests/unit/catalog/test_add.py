"""Tests of adding rows to the overlay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.catalog.add import add_row
from tonnage.catalog.find import find_accelerator
from tonnage.catalog.load import Catalog
from tonnage.errors import UsageError

CARD = {
    "id": "lab-card-40gb",
    "name": "Labor-Karte Größe 40",
    "vendor": "nvidia",
    "segment": "modified",
    "memory_bytes": 42_000_000_000,
    "memory_basis": "measured",
    "basis": "measured",
    "source": ["our own bench"],
    "seen": "2026-12-01",
}
PRICE = {
    "id": "our-quote-2026-12",
    "kind": "purchase",
    "item": "amd-mi355x-288gb",
    "value": 21_500,
    "unit": "USD/card",
    "currency": "USD",
    "from": "2026-12",
    "quality": "own",
    "basis": "measured",
    "source": ["quote 4711"],
    "seen": "2026-12-02",
}


def append(path: Path, text: str) -> None:
    """Write as the real writer does: make the folder, then append."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def refuse(path: Path, text: str) -> None:
    """Fail the test when anything is written."""
    pytest.fail(f"wrote {text!r} to {path}")


def test_round_trip(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "overlay"
    before = Catalog(folder)
    after = add_row(before, "accelerators", CARD, append)
    assert after.rows("accelerators")["lab-card-40gb"] == CARD
    assert find_accelerator(after, "labor-karte größe 40").capacity_bytes == 42_000_000_000
    # A fresh process reads the same.
    assert Catalog(folder).rows("accelerators")["lab-card-40gb"] == CARD
    assert "lab-card-40gb" not in Catalog().rows("accelerators")


def test_prices_accumulate(tmp_path: Path) -> None:
    first = add_row(Catalog(tmp_path), "prices", PRICE, append)
    second = add_row(first, "prices", {**PRICE, "id": "our-quote-2027-01", "from": "2027-01"}, append)
    assert len(second.rows("prices")) == 139 + 2


def test_known_price_is_not_replaced(tmp_path: Path) -> None:
    catalog = add_row(Catalog(tmp_path), "prices", PRICE, append)
    with pytest.raises(UsageError, match="old prices stay"):
        add_row(catalog, "prices", {**PRICE, "value": 1}, refuse)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"memory_bytes": 42}, "outside"),
        ({"source": []}, "source"),
        ({"colour": "red"}, "unknown key"),
        ({"id": ""}, "id"),
    ],
)
def test_bad_rows_are_not_written(tmp_path: Path, change: dict[str, object], match: str) -> None:
    with pytest.raises(UsageError, match=match):
        add_row(Catalog(tmp_path), "accelerators", {**CARD, **change}, refuse)


def test_without_an_overlay_there_is_nowhere_to_write() -> None:
    with pytest.raises(UsageError, match="no overlay folder"):
        add_row(Catalog(), "accelerators", CARD, refuse)
