"""The pool of recurrent states, which hybrid models carve out before the KV pool.

Source: SGLang `mem_cache/kv_cache_configurator.py` _handle_max_mamba_cache.
"""

from __future__ import annotations

from tonnage.engines.sglang.version import Version
from tonnage.memory.kv import Share, kv_specs
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.memory.kv_types import CacheTypes
    from tonnage.memory.rank_view import RankView

# --mamba-full-memory-ratio 0.9: states get 9 / 19 of what the weights leave.
STATE_PART, KV_PART = 9, 10
# Slots per running request: prefill and decode hold three; the double buffer of the overlapped scheduler two more.
SLOTS_PER_REQUEST, SLOTS_WITH_BUFFER = 3, 5
FIRST_WITH_BUFFER = Version(0, 5, 9)


@value
class StatePool:
    """`slots` states of `slot_bytes`, and one more for padding; `slots_per_request` of them serve one request."""

    slot_bytes: int
    slots: int
    slots_per_request: int

    @property
    def bytes(self) -> int:
        """Bytes of the pool, 0 for a model without states."""
        return (self.slots + 1) * self.slot_bytes if self.slot_bytes else 0

    @property
    def requests(self) -> int | None:
        """Requests the slots serve at once; None where states are no limit."""
        return self.slots // self.slots_per_request if self.slot_bytes else None


def state_pool(version: Version, view: RankView, types: CacheTypes, rest_bytes: int) -> StatePool:
    """The states carved out of `rest_bytes`, the memory for all caches of the rank."""
    specs = kv_specs(view.mixers, Share(view.widths.attention, types))
    slot = sum(spec.entry_bytes * spec.layers for spec in specs if spec.kind == "state")
    per_request = SLOTS_WITH_BUFFER if version >= FIRST_WITH_BUFFER else SLOTS_PER_REQUEST
    if not slot:
        return StatePool(0, 0, per_request)
    budget = max(0, rest_bytes) * STATE_PART // (STATE_PART + KV_PART)
    return StatePool(slot, max(0, (budget - slot) // slot), per_request)
