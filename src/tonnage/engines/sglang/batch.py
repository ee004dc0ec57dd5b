"""SGLang's defaults for tokens per prefill chunk and for the largest batch in a decode graph.

Sources: SGLang `server_args.py` (0.4.6, 0.5.3, 0.5.10) and `arg_groups/memory_hook.py` (0.5.23).
"""

from __future__ import annotations

from tonnage.engines.sglang.version import Version
from tonnage.units import GIB
from tonnage.value import value

FIRST_WITH_TIERS = Version(0, 5, 0)
FIRST_WITH_WIDE_SECOND_TIER = Version(0, 5, 10)
WIDE_TP = 4  # from this tensor-parallel size on, larger decode graphs are captured
# Before the tiers: two card sizes for the chunk and one for the graphs, in bytes.
OLD_SMALL_CARD, OLD_CHUNKS = 25_000 * 2**20, (2048, 8192)
OLD_GRAPH_CARD, OLD_SMALL_GRAPHS, OLD_GRAPHS = 35_000 * 2**20, (8, 80), 160


@value
class Tier:
    """Cards below `limit_bytes`: chunk in tokens, decode batches with few and with many tensor-parallel ranks."""

    limit_bytes: int
    chunk_tokens: int
    batch: int
    wide_batch: int


FIRST_TIER = Tier(20 * GIB, 2048, 8, 8)
NARROW_SECOND, SECOND = Tier(35 * GIB, 2048, 16, 80), Tier(35 * GIB, 4096, 48, 160)
MIDDLE_TIERS = (Tier(60 * GIB, 4096, 32, 160), Tier(160 * GIB, 8192, 256, 512))
LARGEST = Tier(0, 16384, 512, 512)


@value
class BatchLimits:
    """Tokens of one prefill chunk and the largest batch whose decode graph is captured."""

    chunk_tokens: int
    graph_batch: int

    def asked(self, chunk_tokens: int | None, eager: bool) -> BatchLimits:
        """The same with the chunk a user asked for, and without graphs where graphs are switched off."""
        return BatchLimits(chunk_tokens or self.chunk_tokens, 0 if eager else self.graph_batch)


def batch_limits(version: Version, card_bytes: int, tp: int) -> BatchLimits:
    """The defaults for a card of `card_bytes` in a group of `tp` ranks."""
    if version < FIRST_WITH_TIERS:
        return _old_limits(card_bytes, tp)
    second = SECOND if version >= FIRST_WITH_WIDE_SECOND_TIER else NARROW_SECOND
    tiers = (FIRST_TIER, second, *MIDDLE_TIERS)
    tier = next((tier for tier in tiers if card_bytes < tier.limit_bytes), LARGEST)
    return BatchLimits(tier.chunk_tokens, tier.wide_batch if tp >= WIDE_TP else tier.batch)


def _old_limits(card_bytes: int, tp: int) -> BatchLimits:
    chunk = OLD_CHUNKS[card_bytes >= OLD_SMALL_CARD]
    small = card_bytes < OLD_GRAPH_CARD
    return BatchLimits(chunk, OLD_SMALL_GRAPHS[tp >= WIDE_TP] if small else OLD_GRAPHS)
