"""What the start-up check counts, release by release."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.engines.vllm.kv_page import paged_specs
from tonnage.engines.vllm.kv_pool import KvPool, make_pool
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_spec import KvSpec

REQUEST = KvRequest(0, 131_072, 8192)
# gpt-oss-120b: 18 window layers and 18 full ones of 2,048 B a token, the window first
GPT_OSS = (KvSpec("sliding", 18, 2048, window=128), KvSpec("full", 18, 2048))
PAGE = 16 * 2048
WINDOW_BLOCKS, FULL_BLOCKS = 521, 8192  # (127 + 8,192)/16 -> 520 + 1; 131,072/16


def pool(
    version: tuple[int, ...], specs: tuple[KvSpec, ...] = GPT_OSS, request: KvRequest = REQUEST, block: int = 16
) -> KvPool:
    """The pool of one rank."""
    return make_pool(paged_specs(specs, block, request), request, kv_rules(Version(*version)))


@pytest.mark.parametrize(
    ("version", "blocks"),
    [
        ((0, 10, 2), WINDOW_BLOCKS + FULL_BLOCKS),
        # from 0.14 to 0.19 only the first group counts
        ((0, 14), WINDOW_BLOCKS),
        ((0, 19), WINDOW_BLOCKS),
        ((0, 20), WINDOW_BLOCKS + FULL_BLOCKS),
        ((0, 32), WINDOW_BLOCKS + FULL_BLOCKS),
    ],
)
def test_needed_of_a_hybrid(version: tuple[int, ...], blocks: int) -> None:
    assert pool(version).needed_bytes(131_072) == blocks * 18 * PAGE


def test_before_the_hybrid_manager_the_pool_is_full_but_the_check_is_not() -> None:
    old = pool((0, 8, 5))
    assert len(old.groups) == 1
    assert old.block_bytes == 36 * PAGE
    assert old.needed_bytes(131_072) == (WINDOW_BLOCKS + FULL_BLOCKS) * 18 * PAGE


def test_hybrid_manager_switched_off() -> None:
    off = pool((0, 32), request=replace(REQUEST, hybrid_manager=False))
    assert len(off.groups) == 1
    assert off.needed_bytes(131_072) == 36 * FULL_BLOCKS * PAGE


def test_chunks_are_managed_since_0_14() -> None:
    llama4 = (KvSpec("chunked", 36, 4096, window=8192), KvSpec("full", 12, 4096))
    assert len(pool((0, 13), llama4).groups) == 1
    assert len(pool((0, 14), llama4).groups) == 4


def test_latent_pages_that_do_not_divide_fall_back_to_full_allocation() -> None:
    # a draft's window pages of 16 x 2,048 B beside latent pages of 16 x 1,152 B
    mixed = (KvSpec("mla", 61, 1152), KvSpec("sliding", 1, 2048, window=2048))
    held = pool((0, 32), mixed)
    assert len(held.groups) == 1
    assert held.block_bytes == 61 * 16 * 1152 + PAGE
    divides = (KvSpec("mla", 6, 1024), KvSpec("sliding", 6, 2048, window=2048))
    assert len(pool((0, 32), divides).groups) == 2


def test_compressed_attention_counts_layer_tuples_until_0_28() -> None:
    small = (KvSpec("mla", 2, 584, 4, 576), KvSpec("sliding_mla", 2, 8192, 1, 576, 8, 4))
    request = KvRequest(0, 1024, 256)
    # full 4 blocks, state (7 + 256)/4 -> 66 + 1; 2 tuples of one 37,440 B page
    assert pool((0, 28), small, request, 256).needed_bytes(1024) == 71 * 74_880
    assert pool((0, 32), small, request, 256).needed_bytes(1024) == 71 * 74_880


def test_blocks_per_request_weighted_by_bytes_until_0_26() -> None:
    latent = (KvSpec("mla", 4, 584, 4, 576), KvSpec("mla", 4, 584, 128, 576))
    specs = (*latent, KvSpec("sliding_mla", 2, 584, 1, 576, 128, 64))
    request = KvRequest(0, 1024, 256)
    # full 4 blocks of 4 x (37,440 + 1,728); window (127 + 256)/64 -> 6 + 1 blocks of 2 x 37,440: 4 + 3.3
    assert pool((0, 26), specs, request, 256).request_blocks(1024) == 8
    assert pool((0, 27), specs, request, 256).request_blocks(1024) == 11
