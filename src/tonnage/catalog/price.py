"""A price, or another dated figure of running costs."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.catalog.schema import Row


@value
class Price:
    """One dated figure with its source.

    ``kind``: purchase (USD/card), server (USD/server), rent (USD/card-hour), ownership, electricity, colocation, pue,
    lifetime, residual, failure. ``item`` is an accelerator or node id, or the kind itself. A row has ``value``, or a
    range ``low`` to ``high``, or both. ``since`` is the date it held from (year, month or day), None when undated.
    """

    id: str
    kind: str
    item: str
    unit: str
    basis: str
    sources: tuple[str, ...]
    seen: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    currency: str | None = None
    since: str | None = None
    provider: str | None = None
    tier: str | None = None
    quality: str | None = None
    note: str | None = None

    @property
    def middle(self) -> float:
        """The value, or the middle of the range."""
        ends = [end for end in (self.low, self.high) if end is not None]
        return float(self.value) if self.value is not None else sum(ends) / len(ends)


def build_price(row: Row) -> Price:
    """The price of a checked row."""
    renamed = {"from": "since", "value_low": "low", "value_high": "high"}
    plain = {renamed.get(key, key): value for key, value in row.items() if key != "source"}
    return Price(**plain, sources=tuple(row["source"]))


def select_prices(prices: Iterable[Price], kind: str, item: str, tier: str | None = None) -> tuple[Price, ...]:
    """Prices of one kind and item, newest first, undated ones last; ``tier`` narrows rents (on-demand, spot ...)."""
    # Dates are text of falling precision; "2026-11-09" > "2026-11" > "2026" keeps the most exact first.
    found = [p for p in prices if p.kind == kind and p.item == item and tier in (None, p.tier)]
    return tuple(sorted(found, key=lambda price: price.since or "", reverse=True))
