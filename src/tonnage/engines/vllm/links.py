"""Memory of the communication libraries and of the driver's context."""

from __future__ import annotations

from tonnage.figure import Line, banded, exact
from tonnage.units import GIB, MIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.memory.rank_view import RankView

# Non-torch growth on one card: 0.13 to 0.35 GiB in NVIDIA logs (vLLM PR 12126, issue 10517), 0.66 GiB on MI300X
# (start logs of 0.9.2); on RDNA 4 twenty published starts leave 0.4 to 1.3 GiB over, a few of one build 2.4 to 3.7.
CONTEXT_BYTES = 200 * MIB
CONTEXT_BYTES_AMD = 1000 * MIB
# On unified memory the loader, the page cache and other processes count: 2.5 to 5 GiB left over in six starts on GB10.
CONTEXT_BYTES_UNIFIED = 3000 * MIB
# Rings and trees of NCCL with custom all-reduce: 0.2 GiB on PCIe cards at any size (vLLM issues 13061, 15340); on
# NVSwitch 0.4 GiB for two cards (llm-d's H100 table), 0.75 for four (a GB200 log), 1.1 to 1.5 for eight (starts of
# Kimi K2 on H100), up to 2.5 in V0 logs (issue 13074).
PCIE_BYTES = 220 * MIB
SWITCH_BYTES, SWITCH_BYTES_PER_PEER = 250 * MIB, 130 * MIB
LOW, HIGH = 0.4, 2.0


def context_line(card: Accelerator) -> Line:
    """Driver context, libraries and allocator slack outside the tensors."""
    if card.vendor == "host":
        return exact("context", 0, "no device context on a CPU")
    size = CONTEXT_BYTES_AMD if card.vendor == "amd" else CONTEXT_BYTES
    if card.is_unified_memory:
        size = CONTEXT_BYTES_UNIFIED
    return banded("context", size, (LOW, HIGH), "measured", f"{card.vendor} context in start logs")


def communication_line(view: RankView) -> Line:
    """Buffers of the collective library; nothing for a single rank."""
    peers = view.layout.ranks_per_stage - 1 + (1 if view.layout.pp > 1 else 0)
    if peers <= 0 or view.card.vendor == "host":
        return exact("communication", 0, "one rank")
    fast = view.card.has_fast_link
    inside = min(peers, (view.card.cards_per_node or view.layout.world) - 1)
    size = SWITCH_BYTES + SWITCH_BYTES_PER_PEER * inside if fast else PCIE_BYTES
    trace = f"{peers} peers over {'fast links' if fast else 'PCIe'}"
    return Line("communication", size, int(size * LOW), min(int(size * HIGH), 2 * GIB + size), "measured", trace)
