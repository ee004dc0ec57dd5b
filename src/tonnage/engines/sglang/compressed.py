"""Pool bytes per token of DeepSeek V4 (SGLang `pool_configurator.py` DSV4PoolConfigurator)."""

from __future__ import annotations

from tonnage.engines.sglang.version import Version
from tonnage.memory.kv import index_bytes
from tonnage.model.dtypes import FLOAT32_BYTES
from tonnage.units import round_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.memory.kv_types import CacheTypes
    from tonnage.model.mixer.compressed import Compressed

    CellParts = tuple[int, int, int]

# The window pool holds a tenth of the tokens; rings of compressor states stand per window page.
WINDOW_SHARE = 10
WINDOW_PAGE = 128
SHORT_RATIO, SHORT_RING = 4, 8
LONG_RATIO, LONG_RING = 128, 128
ROW_ALIGNMENT = 128
# From here on the states of ratio 128 belong to requests; a log of May 2026 (15,955.85 B a token) still has them
# in the cell, together with one layer more. The change was not bisected.
FIRST_WITH_REQUEST_STATES = Version(0, 5, 20)


def compressed_cell(version: Version, mixers: Sequence[Compressed], types: CacheTypes, requests: int) -> CellParts:
    """Numerator and denominator of the bytes per token, and the bytes fixed by the number of `requests`."""
    denominator = WINDOW_SHARE * WINDOW_PAGE
    numerator = sum(_mixer_bytes(mixer, types) for mixer in mixers)
    if version >= FIRST_WITH_REQUEST_STATES:
        return numerator, denominator, sum(_request_states(mixer, requests) for mixer in mixers)
    numerator += denominator * types.record.entry_bytes // WINDOW_SHARE
    return numerator + sum(_token_states(mixer) for mixer in mixers), denominator, 0


def _mixer_bytes(mixer: Compressed, types: CacheTypes) -> int:
    """Bytes of one layer for `WINDOW_SHARE * WINDOW_PAGE` tokens: raw window, entries, selector keys, states."""
    tokens = WINDOW_SHARE * WINDOW_PAGE
    size = WINDOW_PAGE * types.record.entry_bytes
    if not mixer.ratio or not mixer.owns_kv:
        return size
    index = index_bytes(mixer.indexer, types) if mixer.indexer else 0
    size += tokens * (types.record.entry_bytes + index) // mixer.ratio
    if mixer.ratio == SHORT_RATIO:
        # Keys and scores of two overlapping groups; the selector has a compressor of its own.
        width = mixer.head_dim + (mixer.indexer.dim if mixer.indexer else 0)
        size += SHORT_RING * 2 * 2 * width * FLOAT32_BYTES
    return size


def _token_states(mixer: Compressed) -> int:
    return LONG_RING * 2 * mixer.head_dim * FLOAT32_BYTES if mixer.ratio == LONG_RATIO else 0


def _request_states(mixer: Compressed, requests: int) -> int:
    """One ring per request slot, one slot and one ring spare."""
    if mixer.ratio != LONG_RATIO:
        return 0
    rows = round_up((requests + 1) * LONG_RING + LONG_RING + 1, ROW_ALIGNMENT)
    return rows * 2 * mixer.head_dim * FLOAT32_BYTES
