"""A link between cards, or between a card and its host."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.catalog.schema import Row

    Topology = Literal["switch", "mesh", "pairs", "bus", "point"]


# Makers print both directions summed ("900 GB/s"); a transfer sees half, so only one-way rates are kept here.
@value
class Link:
    """One kind of link; rates are bytes per second, one way, for one card.

    ``bytes_per_s`` is the sum over all links of a card, ``pair_bytes_per_s`` what two cards alone reach
    (None when not known), ``max_cards`` how many cards it joins at most.
    Topologies: ``switch`` all to all at full rate, ``mesh`` one link per peer, ``pairs`` bridged groups,
    ``bus`` over the host, ``point`` card to host.
    """

    id: str
    name: str
    bytes_per_s: int
    pair_bytes_per_s: int | None
    topology: Topology
    max_cards: int
    basis: str
    sources: tuple[str, ...]
    note: str | None = None


def build_link(row: Row) -> Link:
    """The link of a checked row."""
    return Link(
        id=row["id"],
        name=row["name"],
        bytes_per_s=row["bytes_per_s_per_direction"],
        pair_bytes_per_s=row.get("pair_bytes_per_s_per_direction"),
        topology=row["topology"],
        max_cards=row["max_cards"],
        basis=row["basis"],
        sources=tuple(row["source"]),
        note=row.get("note"),
    )
