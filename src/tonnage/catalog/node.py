"""A node: cards in one chassis or one scale-up domain."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.schema import Row


@value
class Node:
    """A server or rack as sold; None is not known.

    ``cards`` in the whole node, ``cards_per_host`` under one operating system (4 in an NVL72 tray),
    ``scale_up_domain`` cards that reach each other without the network or the host (1: none do),
    ``host_memory_bytes`` per host, ``power_watts`` maximum of the system, ``card_power_watts`` sum of its cards,
    ``scale_out_bytes_per_s_per_card`` one way.
    """

    id: str
    name: str
    accelerator: str
    cards: int
    cards_per_host: int
    scale_up_domain: int
    basis: str
    sources: tuple[str, ...]
    seen: str
    aliases: tuple[str, ...] = ()
    host_memory_bytes: int | None = None
    power_watts: int | None = None
    card_power_watts: int | None = None
    scale_out_bytes_per_s_per_card: int | None = None
    nic: str | None = None
    note: str | None = None


def build_node(row: Row) -> Node:
    """The node of a checked row."""
    plain = {key: value for key, value in row.items() if key not in ("aliases", "source")}
    return Node(**plain, sources=tuple(row["source"]), aliases=tuple(row.get("aliases", ())))
