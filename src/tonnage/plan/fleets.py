"""The fleet a question names, and the cards one could buy instead."""

from __future__ import annotations

from tonnage.catalog.accelerator import Accelerator
from tonnage.catalog.find import find_accelerator
from tonnage.catalog.fleet import Fleet, check_counts, parse_fleet
from tonnage.catalog.load import Catalog
from tonnage.errors import UsageError
from tonnage.kept import kept
from tonnage.seams.host import host_memory_bytes
from tonnage.seams.overlay import find_overlay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.price import Price
    from tonnage.plan.question import Question


FLEETS_KEPT = 1024  # fleets and cards that one batch names


@kept(1)
def open_catalog() -> Catalog:
    """The packaged catalogue with the user's overlay, opened once per process."""
    return Catalog(find_overlay())


def find_fleet(question: Question) -> Fleet:
    """The fleet of `question.gpu`: a fleet text, a TOML file, or a card's name with `gpu_count` and `nodes`."""
    fleet = _named(question)
    total = question.gpu_count
    if total is None:
        if question.nodes not in (None, fleet.nodes):
            raise UsageError("nodes", question.nodes, "gpu_count beside it, or NODESxCOUNTxNAME")
        nodes = fleet.nodes if fleet.nodes > 1 else _num_nodes(fleet.accelerator, fleet.count)
        return sized(fleet, nodes, fleet.num_cards // nodes)
    if fleet.num_cards not in (1, total):
        raise UsageError("gpu_count", total, f"{fleet.num_cards}, as {question.gpu} says")
    if fleet.num_cards == total and question.nodes in (None, fleet.nodes):
        return fleet
    nodes = question.nodes or _num_nodes(fleet.accelerator, total)
    if total % nodes:
        raise UsageError("gpu_count", total, f"a multiple of the {nodes} nodes")
    return sized(fleet, nodes, total // nodes)


def _named(question: Question) -> Fleet:
    """The fleet a question names; a card nobody knows will do where only cache arithmetic is asked."""
    try:
        return _parsed(question.gpu)
    except UsageError as unknown:
        if question.kv_cache_memory_bytes is None:
            raise
        card = anonymous_card(question.gpu, question.kv_cache_memory_bytes, unknown.line)
        return Fleet(1, 1, card)


@kept(FLEETS_KEPT)
def _parsed(text: str) -> Fleet:
    return parse_fleet(text, open_catalog(), host_memory_bytes())


def anonymous_card(name: str, memory_bytes: int, note: str) -> Accelerator:
    """A card of which only the memory for the cache is known."""
    return Accelerator(
        id="unknown", name=name, vendor="nvidia", segment="unknown", memory_bytes=memory_bytes, memory_basis="assumed",
        basis="assumed", sources=(), seen=None,
        note=f"{note}; only the cache was worked out, its capacity is not known",
    )  # fmt: skip


def sized(fleet: Fleet, nodes: int, count: int) -> Fleet:
    """The same cards in other numbers; UsageError for numbers that cannot be."""
    check_counts(nodes, count)
    return Fleet(nodes, count, fleet.accelerator, fleet.host_memory_bytes)


@kept(FLEETS_KEPT)
def find_card(name: str) -> Accelerator:
    """A card by name."""
    return find_accelerator(open_catalog(), name, host_memory_bytes())


def node_memory_bytes(fleet: Fleet) -> int | None:
    """Host memory of one node: the stated one, else that of the node these cards are usually bought in."""
    if fleet.accelerator.vendor == "host":
        return fleet.host_memory_bytes
    node = open_catalog().row("nodes", "accelerator", fleet.accelerator.id)
    return node.get("host_memory_bytes") if node else None


def card_kinds() -> tuple[Accelerator, ...]:
    """Cards one could buy: data-centre and workstation cards with a known capacity."""
    return tuple(card for card in open_catalog().accelerators() if card.is_card_kind)


def price_usd(card: Accelerator, count: int) -> float | None:
    """Purchase price of `count` cards, the newest known; None when there is none."""
    from tonnage.catalog.price import select_prices

    found = select_prices(_open_prices(), "purchase", card.id)
    return found[0].middle * count if found else None


@kept(1)
def _open_prices() -> tuple[Price, ...]:
    return tuple(open_catalog().prices())


def _num_nodes(card: Accelerator, total: int) -> int:
    """Nodes of the usual size, one when the cards fit in it or do not fill several."""
    usual = card.cards_per_node
    return total // usual if usual and total > usual and total % usual == 0 else 1
