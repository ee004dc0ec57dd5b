from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.llamacpp.build import NEWEST, Build
from tonnage.engines.llamacpp.cache import DeviceCache, Grown
from tonnage.engines.llamacpp.pool import cache_of, longest_context, plan_pool
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch
from tonnage.model.mixer.gqa import Gqa

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
NEW = Build(NEWEST)


def test_the_cache_is_as_long_as_asked(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    pool = plan_pool(NEW, view_of(arch_of(gqa), card), 2**30)
    # 4,096 cells of 512 B; the rest of the gigabyte stays free.
    assert (pool.tokens, pool.concurrency, pool.pool_bytes, pool.fits) == (4096, 1.0, 4096 * 512, True)
    assert (pool.needed_bytes, pool.token_bytes, pool.max_context) == (4096 * 512, 512, 32768)
    assert (pool.block_size, pool.num_blocks) == (256, 16)
    assert "4,096 cells of 512 B" in pool.trace


def test_requests_at_once_share_a_longer_cache(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    pool = plan_pool(NEW, view_of(arch_of(gqa), card, concurrency=3), 2**30)
    assert (pool.tokens, pool.concurrency) == (3 * 4096, 3.0)
    small = plan_pool(NEW, view_of(arch_of(gqa), card, concurrency=3), 6144 * 512)
    assert (small.tokens, small.concurrency, small.fits) == (6144, 1.5, True)


def test_what_does_not_fit(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    pool = plan_pool(NEW, view_of(arch_of(gqa), card), 1000 * 512)
    assert (pool.fits, pool.max_context, pool.tokens, pool.pool_bytes) == (False, 768, 768, 1000 * 512)
    empty = plan_pool(NEW, view_of(arch_of(gqa), card), -1)
    assert (empty.fits, empty.max_context) == (False, 0)


def test_a_given_pool_is_filled(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    pool = plan_pool(NEW, view_of(arch_of(gqa), card, kv_bytes=2**25), 2**25)
    assert (pool.tokens, pool.concurrency, pool.pool_bytes) == (65_536, 16.0, 2**25)


def test_odd_contexts_are_padded(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    pool = plan_pool(NEW, view_of(arch_of(gqa), card, max_model_len=1000), 1024 * 512)
    assert (pool.fits, pool.tokens, pool.needed_bytes) == (True, 1024, 1024 * 512)


@pytest.mark.parametrize(
    ("room", "limit", "found"), [(-1, 4096, 0), (99, 4096, 0), (10**9, 1000, 1024), (5220, 4096, 512)]
)
def test_longest_context(room: int, limit: int, found: int) -> None:
    # 10 B a cell and 100 B for the state of one slot: 512 cells are 5,220 B.
    assert longest_context(DeviceCache((Grown(10),), 100, 1, 512), room, limit) == found


def test_caches_follow_the_limits(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    found = cache_of(NEW, view_of(arch_of(gqa), card, kv_dtype="q8_0", max_num_seqs=2))
    assert (found.slots, found.batch, found.token_bytes) == (2, 512, 2 * 4 * 34)
