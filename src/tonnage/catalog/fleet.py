"""A fleet: how many nodes, how many cards in each, and which."""

from __future__ import annotations

from tonnage.catalog.find import find_accelerator
from tonnage.errors import UsageError
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.catalog.load import Catalog

# Far above anything built: 72 cards a rack, 384 a super-node; the largest clusters have some 10^5 cards.
MAX_CARDS_PER_NODE = 1_024
MAX_NODES = 100_000
_FORM = "[NODESx]COUNTxNAME such as 8xMI300X or 2x8xH100, or a path to a TOML file"


@value
class Fleet:
    """``nodes`` times ``count`` of one accelerator; ``host_memory_bytes`` is that of one node, None if not given."""

    nodes: int
    count: int
    accelerator: Accelerator
    host_memory_bytes: int | None = None

    @property
    def num_cards(self) -> int:
        """All devices of the fleet."""
        return self.nodes * self.count

    @property
    def label(self) -> str:
        """The fleet in one phrase: ``2 x 8 x H100 SXM5 80GB``."""
        nodes = f"{self.nodes} x " if self.nodes > 1 else ""
        return f"{nodes}{self.count} x {self.accelerator.name}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while reading the name, in sentences for the reader."""
        return self.accelerator.assumptions


def parse_fleet(text: str, catalog: Catalog, host_memory_bytes: int | None = None) -> Fleet:
    """The fleet a text names: ``8xMI300X``, ``2x8xH100``, ``H100`` (one card), or a path ending in ``.toml``.

    ``host_memory_bytes`` is the capacity of ``CPU``. Counts of zero, below zero or absurd are a UsageError, unknown
    and ambiguous names too.
    """
    if text.strip().lower().endswith(".toml"):
        # Imported here: few questions come with a hardware file.
        from tonnage.catalog.hardware import read_hardware

        own = read_hardware(text.strip(), catalog, host_memory_bytes)
        check_counts(own.nodes, own.count)
        return Fleet(own.nodes, own.count, own.accelerator, own.host_memory_bytes)
    counts, name = _split_counts(text, catalog)
    nodes, count = (counts if len(counts) > 1 else [1, *counts, 1])[:2]
    check_counts(nodes, count)
    return Fleet(nodes, count, find_accelerator(catalog, name, host_memory_bytes), host_memory_bytes)


def check_counts(nodes: int, count: int) -> None:
    """UsageError for numbers of nodes or cards that cannot be."""
    if not 1 <= nodes <= MAX_NODES:
        raise UsageError("fleet", f"{nodes} nodes", f"1 to {MAX_NODES} nodes")
    if not 1 <= count <= MAX_CARDS_PER_NODE:
        raise UsageError("fleet", f"{count} cards a node", f"1 to {MAX_CARDS_PER_NODE} cards a node")


def _split_counts(text: str, catalog: Catalog) -> tuple[list[int], str]:
    counts: list[int] = []
    rest = text.strip()
    # A name may itself begin with a number and an x ("7900 XTX"), so a known name ends the counts.
    while rest and catalog.look_up(rest) is None:
        head, _, tail = rest.replace("×", "x").replace("X", "x").partition("x")
        if not _is_numeric(head):
            break
        counts.append(_count(head.strip(), text))
        rest = rest[len(rest) - len(tail) :].strip()
    if len(counts) > 2 or not rest:
        raise UsageError("fleet", repr(text), _FORM)
    return counts, rest


def _is_numeric(head: str) -> bool:
    return head.strip().lstrip("+-").replace(".", "").isdecimal()


def _count(head: str, text: str) -> int:
    if not (head.isascii() and head.isdecimal()) or len(head) > len(str(MAX_NODES)) or int(head) < 1:
        raise UsageError("fleet", f"{head} in {text!r}", f"a whole number of 1 or more in {_FORM}")
    return int(head)
