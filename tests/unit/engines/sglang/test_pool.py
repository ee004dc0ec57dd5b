from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.pool import page_size, plan_pool, running_requests
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
OLD = Version(0, 5, 8)


def test_page_sizes(
    hopper: Accelerator, instinct: Accelerator, gqa: Gqa, sparse_mla: Mla, arch_of: ArchOf, view_of: ViewOf
) -> None:
    sparse = arch_of(sparse_mla)
    assert page_size(NEWEST, view_of(arch_of(gqa), hopper)) == 1
    assert page_size(NEWEST, view_of(arch_of(gqa), hopper, block_size=16)) == 16
    assert page_size(NEWEST, view_of(sparse, hopper)) == 64
    assert page_size(OLD, view_of(sparse, instinct)) == 1
    assert page_size(NEWEST, view_of(sparse, instinct)) == 64
    assert page_size(NEWEST, view_of(arch_of(Compressed(8, 512, 64, 64, 64, 2, 0, 128)), hopper)) == 256


def test_a_pool_by_hand(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    # 512 B a token: 8,192 tokens in 4 MiB, two requests of 4,096.
    pool = plan_pool(NEWEST, view_of(arch_of(gqa), hopper), 2**22)
    assert (pool.tokens, pool.concurrency, pool.token_bytes) == (8192, 2.0, 512)
    assert (pool.needed_bytes, pool.max_context, pool.state_bytes) == (4096 * 512, 8192, 0)
    assert (pool.block_size, pool.num_blocks, pool.fits, pool.pool_bytes) == (1, 8192, True, 2**22)
    assert "8,192 tokens of 512.00 B" in pool.trace


def test_a_pool_too_small_for_the_length(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    pool = plan_pool(NEWEST, view_of(arch_of(gqa), hopper, max_model_len=16384), 2**22)
    assert not pool.fits
    assert pool.max_context == 8192
    assert not plan_pool(NEWEST, view_of(arch_of(gqa), hopper), -1).fits


def test_the_context_ends_with_the_model(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    assert plan_pool(NEWEST, view_of(arch_of(gqa), hopper), 2**30).max_context == 32768


def test_old_rocm_overshoots_its_budget(
    instinct: Accelerator, sparse_mla: Mla, arch_of: ArchOf, view_of: ViewOf
) -> None:
    # Planned with 576 + 132 = 708 B a token, allocated with 656 + 132 = 788.
    view = view_of(arch_of(sparse_mla), instinct, kv_dtype="fp8_e4m3")
    pool = plan_pool(OLD, view, 708 * 10_000)
    assert (pool.tokens, pool.pool_bytes, pool.token_bytes) == (10_000, 788 * 10_000, 788)
    assert plan_pool(NEWEST, view, 708 * 10_048).pool_bytes == 708 * 10_048


def test_a_given_pool_is_what_was_allocated(
    instinct: Accelerator, sparse_mla: Mla, arch_of: ArchOf, view_of: ViewOf
) -> None:
    view = view_of(arch_of(sparse_mla), instinct, kv_dtype="fp8_e4m3", kv_bytes=788 * 10_000)
    assert plan_pool(OLD, view, 788 * 10_000).tokens == 10_000


def test_states_come_first(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    linear = DeltaNet(16, 32, 128, 128, 4)
    slot, rest = 49_152 + 2_097_152, 19 * 2**27
    pool = plan_pool(NEWEST, view_of(arch_of(gqa, linear), hopper), rest)
    slots = 9 * 2**27 // slot - 1
    assert pool.tokens == (rest - (slots + 1) * slot) // 512
    assert pool.state_bytes == 5 * slot
    assert pool.concurrency == slots // 5
    fixed = plan_pool(NEWEST, view_of(arch_of(gqa, linear), hopper, kv_bytes=2**22), 2**22)
    assert fixed.tokens == 8192


def test_states_alone_do_not_limit_the_context(hopper: Accelerator, arch_of: ArchOf, view_of: ViewOf) -> None:
    pool = plan_pool(NEWEST, view_of(arch_of(DeltaNet(16, 32, 128, 128, 4)), hopper), 19 * 2**27)
    assert pool.max_context == 32768
    assert pool.fits
    assert pool.concurrency == 112.0


@pytest.mark.parametrize(
    ("limit", "tokens", "context", "requests"),
    [
        (4096, 1_000_000, 131_072, 3906),
        (4096, 100_000, 131_072, 2048),
        (4096, 10**8, 4096, 4096),
        (128, 10**6, 4096, 128),
        (4096, 1000, 4096, 500),
        (4096, 0, 4096, 1),
    ],
)
def test_running_requests(limit: int, tokens: int, context: int, requests: int) -> None:
    assert running_requests(limit, tokens, context) == requests
