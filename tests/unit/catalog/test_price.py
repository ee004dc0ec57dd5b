"""Tests of dated prices."""

from __future__ import annotations

import pytest

from tonnage.catalog.load import Catalog
from tonnage.catalog.price import Price, select_prices


def _price(key: str, since: str | None, tier: str | None = None, value: float = 1.0) -> Price:
    return Price(key, "rent", "card", "USD/card-hour", "datasheet", ("s",), "2026", value, since=since, tier=tier)


def test_newest_first_and_undated_last() -> None:
    prices = [_price("a", "2024"), _price("b", None), _price("c", "2026-11-09"), _price("d", "2026-11")]
    assert [price.id for price in select_prices(prices, "rent", "card")] == ["c", "d", "a", "b"]


def test_selection_by_kind_item_and_tier() -> None:
    prices = [_price("a", "2024", "spot"), _price("b", "2023", "on-demand")]
    assert [price.id for price in select_prices(prices, "rent", "card", "on-demand")] == ["b"]
    assert select_prices(prices, "rent", "other") == ()
    assert select_prices(prices, "purchase", "card") == ()


def test_middle_of_value_and_range() -> None:
    assert _price("a", None, value=3.5).middle == 3.5
    ranged = Price("r", "purchase", "card", "USD/card", "assumed", ("s",), "2026", low=25_000, high=30_000)
    assert ranged.middle == 27_500.0  # (25,000 + 30,000) / 2
    assert ranged.value is None


# The figures of the field reports: 22,500 and 20,000 USD a card, 150,000 for the server around eight of them.
@pytest.mark.parametrize(
    ("price_id", "kind", "item", "value", "unit"),
    [
        ("purchase-h100-sxm-80gb-2024-09-03", "purchase", "nvidia-h100-sxm-80gb", 22_500, "USD/card"),
        ("purchase-mi300x-192gb-2024-09-03", "purchase", "amd-mi300x-192gb", 20_000, "USD/card"),
        ("server-base-8x-2024-09-03", "server", "server-base-8x", 150_000, "USD/server"),
    ],
)
def test_article_prices(price_id: str, kind: str, item: str, value: int, unit: str) -> None:
    price = {price.id: price for price in Catalog().prices()}[price_id]
    assert (price.kind, price.item, price.value, price.unit) == (kind, item, value, unit)
    assert (price.quality, price.since, price.currency) == ("article", "2024-09-03", "USD")


def test_rents_of_one_card() -> None:
    rents = select_prices(Catalog().prices(), "rent", "nvidia-h100-sxm-80gb", "on-demand")
    assert rents[0].since == "2026-11-09"
    by_provider = {(price.provider, price.since): price.value for price in rents}
    assert by_provider["Azure", "2026-11-09"] == 12.29
    assert by_provider["AWS", "2026-11-09"] == 6.88


def test_running_costs_and_failures() -> None:
    prices = {price.id: price for price in Catalog().prices()}
    assert prices["pue-survey-2025"].value == 1.54
    assert prices["colocation-north-america-2025-12"].value == 194.95
    assert prices["electricity-us-industrial-ohio-2024-07"].value == 0.0713  # 7.13 cents
    # 419 interruptions, 16,384 cards, 54 days: 419 / (16384 * 54 / 365) = 0.1729 a card-year
    assert prices["failure-rate-all-causes"].value == pytest.approx(419 / (16_384 * 54 / 365), abs=1e-4)
    assert (prices["lifetime-server-filings"].low, prices["lifetime-server-filings"].high) == (5, 6)


def test_every_purchase_and_rent_names_a_known_item() -> None:
    catalog = Catalog()
    known = {*catalog.rows("accelerators"), *catalog.rows("nodes"), "server-base-8x"}
    bought = [price for price in catalog.prices() if price.kind in ("purchase", "rent", "server")]
    assert len(bought) > 95
    assert {price.item for price in bought} <= known
