"""Rows for ``tonnage catalog list`` and ``show``: plain dictionaries with raw units, ready for JSON."""

from __future__ import annotations

from tonnage.catalog.find import find_accelerator
from tonnage.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.load import Catalog
    from tonnage.catalog.schema import Kind, Row

_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "accelerators": (
        *("id", "name", "vendor", "segment", "target", "memory_bytes", "memory_basis"),
        *("bandwidth_bytes_per_s", "tdp_watts"),
    ),
    "nodes": ("id", "name", "accelerator", "cards", "scale_up_domain", "host_memory_bytes", "power_watts"),
    "links": ("id", "name", "topology", "max_cards", "bytes_per_s_per_direction", "pair_bytes_per_s_per_direction"),
    "prices": ("id", "kind", "item", "value", "value_low", "value_high", "unit", "from", "provider", "tier"),
}


def list_rows(catalog: Catalog, kind: Kind, text: str = "") -> list[Row]:
    """The main columns of every row of a kind whose id, name or item contains ``text`` (any case); None is unknown."""
    wanted = text.lower()
    found = [row for row in catalog.rows(kind).values() if wanted in _haystack(row)]
    return [{key: row.get(key) for key in _COLUMNS[kind]} for row in found]


def show_row(catalog: Catalog, kind: Kind, name: str) -> Row:
    """Every key of one row with its sources; accelerators by any name, other kinds by id. UsageError if unknown."""
    rows = catalog.rows(kind)
    wanted = find_accelerator(catalog, name).id if kind == "accelerators" else name
    # A partition is derived from the row of its card.
    wanted = wanted.partition(":")[0]
    if wanted not in rows:
        raise UsageError(kind, f"unknown id {name!r}", f"an id from `tonnage catalog list {kind}`")
    # A copy: rows are shared by everything that reads the catalogue.
    return dict(rows[wanted])


def _haystack(row: Row) -> str:
    return " ".join([row["id"], row.get("name", ""), row.get("item", ""), *row.get("aliases", ())]).lower()
