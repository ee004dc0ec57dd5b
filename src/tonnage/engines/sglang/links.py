"""Memory of the communication libraries and of the driver's context, before any weight is loaded."""

from __future__ import annotations

from tonnage.figure import banded, exact
from tonnage.units import MIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.figure import Line
    from tonnage.memory.rank_view import RankView

# Card less `avail mem` at the start of loading, single rank: 0.5 to 0.8 GiB on NVIDIA cards of 24 and 80 GB.
CONTEXT_BYTES = 640 * MIB
CONTEXT_BYTES_AMD = 700 * MIB
# The rest, per peer: 1.5 GiB for eight H200, 0.8 for four, 1.0 for eight PCIe cards; 3.0 to 3.8 for eight MI300X or
# MI355X, 1.0 for four. Images of the same version differ by a factor of two.
FAST_BYTES_PER_PEER, PCIE_BYTES_PER_PEER, AMD_BYTES_PER_PEER = 220 * MIB, 150 * MIB, 460 * MIB
LOW, HIGH = 0.5, 2.0


def context_line(card: Accelerator) -> Line:
    """Driver context and libraries of one rank."""
    if card.vendor == "host":
        return exact("context", 0, "no device context on a CPU")
    size = CONTEXT_BYTES_AMD if card.vendor == "amd" else CONTEXT_BYTES
    return banded("context", size, (LOW, HIGH), "measured", f"{card.vendor} context in start logs")


def communication_line(view: RankView) -> Line:
    """Buffers of the collective libraries; nothing for a single rank."""
    peers = min(view.layout.world, view.card.cards_per_node or view.layout.world) - 1
    if peers <= 0 or view.card.vendor == "host":
        return exact("communication", 0, "one rank")
    size = peers * _per_peer(view.card)
    return banded("communication", size, (LOW, HIGH), "measured", f"{peers} peers in a node")


def _per_peer(card: Accelerator) -> int:
    if card.vendor == "amd":
        return AMD_BYTES_PER_PEER
    return FAST_BYTES_PER_PEER if card.has_fast_link else PCIE_BYTES_PER_PEER
