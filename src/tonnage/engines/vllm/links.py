"""Memory of the communication libraries and of the driver's context."""

from __future__ import annotations

from tonnage.catalog.accelerator import Accelerator
from tonnage.figure import Line
from tonnage.memory.rank_view import RankView
from tonnage.units import GIB, MIB

# Non-torch growth on one card: 0.13 to 0.35 GiB in NVIDIA logs (vLLM PR 12126, issue 10517), 0.66 GiB on MI300X
# (start logs of 0.9.2), 0.7 to 1.1 GiB left over on RDNA 4.
CONTEXT_BYTES = 200 * MIB
CONTEXT_BYTES_AMD = 700 * MIB
# Rings and trees of NCCL with custom all-reduce: 0.2 GiB on PCIe cards at any size (vLLM issues 13061, 15340);
# on NVSwitch 0.4 GiB for two cards up to 2 to 2.5 GiB for eight (issue 13074; llm-d's H100 table; A100 logs).
PCIE_BYTES = 220 * MIB
SWITCH_BYTES_PER_PEER = 280 * MIB
LOW, HIGH = 0.4, 2.0


def context_line(card: Accelerator) -> Line:
    """Driver context, libraries and allocator slack outside the tensors."""
    if card.vendor == "host":
        return Line("context", 0, 0, 0, "derived", "no device context on a CPU")
    size = CONTEXT_BYTES_AMD if card.vendor == "amd" else CONTEXT_BYTES
    return Line("context", size, int(size * LOW), int(size * HIGH), "measured", f"{card.vendor} context in start logs")


def communication_line(view: RankView) -> Line:
    """Buffers of the collective library; nothing for a single rank."""
    peers = view.layout.ranks_per_stage - 1 + (1 if view.layout.pp > 1 else 0)
    if peers <= 0 or view.card.vendor == "host":
        return Line("communication", 0, 0, 0, "derived", "one rank")
    fast = view.card.link is not None and view.card.link.topology in ("switch", "mesh")
    size = SWITCH_BYTES_PER_PEER * min(peers, (view.card.cards_per_node or 1) - 1) if fast else PCIE_BYTES
    trace = f"{peers} peers over {'fast links' if fast else 'PCIe'}"
    return Line("communication", size, int(size * LOW), min(int(size * HIGH), 2 * GIB + size), "measured", trace)
