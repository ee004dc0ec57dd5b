"""What one rank caches for a set of equal layers, independent of any engine version."""

from __future__ import annotations

from tonnage.units import round_up
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    KvKind = Literal["full", "sliding", "chunked", "mla", "sliding_mla", "state", "ring", "cross"]


@value
class KvSpec:
    """The cache of `layers` equal layers on one rank.

    An entry of `entry_bytes` stands for `ratio` tokens; a page of one layer and block is rounded up to `alignment`.
    `window` is the sliding window or the chunk in tokens. `block` is a block size of the layer's own, in tokens.
    `state` layers keep `entry_bytes` per sequence whatever its length, `ring` layers one page per sequence.
    `is_index` marks the keys of a sparse attention's selector, `scan` names the mixers whose prefill runs as a
    chunked scan, within which an engine can save a state.
    """

    kind: KvKind
    layers: int
    entry_bytes: int
    ratio: int = 1
    alignment: int = 1
    window: int | None = None
    block: int | None = None
    is_index: bool = False
    scan: Literal["mamba2", "kda"] | None = None

    @property
    def grows(self) -> bool:
        """Whether every token of a sequence stays in the cache."""
        return self.kind in ("full", "mla")


def page_bytes(spec: KvSpec, block: int) -> int:
    """Bytes of one layer's page for a block of `block` tokens (the layer's own block size wins)."""
    if spec.kind == "state":
        return spec.entry_bytes
    entries = (spec.block or block) // spec.ratio
    return round_up(entries * spec.entry_bytes, spec.alignment)
