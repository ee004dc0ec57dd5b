"""From the memory left on a device to the context that llama.cpp can give."""

from __future__ import annotations

from tonnage.engines.llamacpp.cache import CELL_MULTIPLE, DeviceCache, device_cache
from tonnage.engines.llamacpp.cache_types import cache_pair
from tonnage.memory.engine import Pool
from tonnage.memory.search import find_largest
from tonnage.units import ceil_div, round_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.llamacpp.build import Build
    from tonnage.memory.rank_view import RankView


def cache_of(build: Build, view: RankView) -> DeviceCache:
    """The caches of the view's device."""
    serving = view.serving
    pair = cache_pair(serving.kv_dtype)
    return device_cache(build, view.mixers, pair, serving.max_num_seqs, serving.max_num_batched_tokens)


def plan_pool(build: Build, view: RankView, pool_bytes: int) -> Pool:
    """The cache of `-c`: as long as asked, for as many requests at once as asked, or what fits in `pool_bytes`.

    The program allocates the whole cache at start and fails when it does not fit; it never takes more than `-c`.
    """
    serving, cache = view.serving, cache_of(build, view)
    length, requests = serving.max_model_len, serving.concurrency or 1
    limit = max(view.parts.arch.max_context, length)
    wanted = round_up(length * requests, CELL_MULTIPLE)
    is_given = serving.kv_bytes is not None
    most = longest_context(cache, pool_bytes, limit * requests if not is_given else pool_bytes)
    tokens = most if is_given else min(most, wanted)
    size = pool_bytes if is_given or tokens < wanted else cache.bytes(wanted)
    return Pool(
        pool_bytes=size,
        tokens=tokens,
        concurrency=tokens / length,
        needed_bytes=cache.bytes(length),
        max_context=min(most, limit),
        token_bytes=cache.token_bytes,
        state_bytes=cache.state_bytes,
        block_size=CELL_MULTIPLE,
        num_blocks=tokens // CELL_MULTIPLE,
        fits=pool_bytes > 0 and most >= min(length, limit),
        trace=f"{tokens:,} cells of {cache.token_bytes:,} B, {cache.slots} slots",
    )


def longest_context(cache: DeviceCache, room_bytes: int, limit: int) -> int:
    """The longest context up to `limit` whose cache fits in `room_bytes`, a whole number of padded cells.

    A limit that is no multiple of the padding counts as reached when its padded context fits.
    """
    if room_bytes < cache.bytes(0):
        return 0
    most = ceil_div(limit, CELL_MULTIPLE)
    return find_largest(most, lambda cells: cache.bytes(cells * CELL_MULTIPLE) <= room_bytes) * CELL_MULTIPLE
