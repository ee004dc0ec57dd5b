"""Groups of layers with equal pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.engines.vllm.kv_group import (
    Group,
    equal_groups,
    equal_pages,
    group_size,
    is_uniform,
    pad_states,
    promote,
    split,
)
from tonnage.engines.vllm.kv_page import Demand, Paged, paged_specs
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_spec import KvSpec

REQUEST = KvRequest(0, 32_768, 8192)
NEW = kv_rules(Version(0, 32))


def pages(*specs: KvSpec, block: int = 16, model: tuple[KvSpec, ...] | None = None) -> tuple[Paged, ...]:
    """The caches of a rank."""
    return paged_specs(specs, block, replace(REQUEST, model_specs=model))


@pytest.mark.parametrize(
    ("version", "fewest", "most", "expected"),
    [
        ((0, 11), 12, 13, 12),
        ((0, 12), 12, 13, 13),
        ((0, 12), 12, 15, 12),  # 15 is not below 1.25 x 12
        ((0, 18), 12, 15, 15),
        ((0, 18), 12, 17, 17),
        ((0, 18), 12, 18, 12),  # 18 is not below 1.5 x 12
        ((0, 32), 10, 54, 10),
        ((0, 32), 18, 18, 18),
    ],
)
def test_group_size(version: tuple[int, int], fewest: int, most: int, expected: int) -> None:
    assert group_size(fewest, most, kv_rules(Version(*version))) == expected


def test_gemma_3_splits_windows_five_to_one() -> None:
    gemma = pages(KvSpec("sliding", 52, 2048, window=1024), KvSpec("full", 10, 2048))
    groups = equal_groups(gemma, NEW)
    # 52 window layers in 6 groups of 9 or 8, 10 full ones in one
    assert [[m.layers for m in g.members] for g in groups] == [[9], [9], [9], [9], [8], [8], [10]]
    # 10 layers x 16 x 2,048
    assert max(group.bytes for group in groups) == 327_680


def test_stages_keep_the_groups_of_the_model() -> None:
    model = (KvSpec("state", 45, 800), KvSpec("full", 15, 50))
    groups = equal_groups(pages(KvSpec("state", 23, 800), KvSpec("full", 7, 50), model=model), NEW)
    assert [[m.layers for m in g.members] for g in groups] == [[8], [8], [7], [7]]


def test_split_deals_in_turns() -> None:
    groups = split(pages(KvSpec("full", 7, 2)), 3)
    assert [group.members[0].layers for group in groups] == [3, 2, 2]
    assert [group.members[0].layers for group in split(pages(KvSpec("full", 1, 2)), 3)] == [1, 0, 0]


def test_uniform_caches() -> None:
    assert is_uniform(pages(KvSpec("mla", 61, 132, is_index=True), KvSpec("mla", 61, 1152)))
    assert is_uniform(pages(KvSpec("full", 60, 2048), KvSpec("mla", 57, 256)))
    assert not is_uniform(pages(KvSpec("full", 12, 2048), KvSpec("sliding", 12, 2048, window=128)))
    assert not is_uniform(pages(KvSpec("sliding", 1, 2, window=128), KvSpec("sliding", 1, 2, window=512)))
    assert is_uniform(())


def test_pages_are_made_equal() -> None:
    mixed = pages(KvSpec("full", 9, 2560), KvSpec("sliding", 39, 5120, window=128), KvSpec("state", 4, 50_000))
    full, sliding, state = equal_pages(mixed)
    # 16 x 2,560 = 40,960 doubles to 32 tokens; the state is padded
    assert (full.block, full.page) == (32, 81_920)
    assert (sliding.block, sliding.page) == (16, 81_920)
    assert (state.block, state.page) == (16, 81_920)


def test_pages_that_do_not_divide_are_padded() -> None:
    smaller, larger = equal_pages(pages(KvSpec("full", 4, 3000), KvSpec("sliding", 4, 4096, window=128)))
    assert (smaller.block, smaller.page) == (16, 65_536)
    assert larger.page == 65_536


def test_states_are_padded_to_the_largest_page() -> None:
    state, full = pad_states(pages(KvSpec("state", 48, 1_603_584), KvSpec("full", 16, 1024), block=1568))
    assert state.page == full.page == 1_605_632
    assert pad_states(()) == ()


def test_without_the_hybrid_manager_windows_are_full() -> None:
    full, window, chunk = promote(
        pages(KvSpec("full", 1, 8), KvSpec("sliding", 1, 8, window=128), KvSpec("chunked", 1, 8, window=64))
    )
    assert [page.spec.kind for page in (full, window, chunk)] == ["full"] * 3
    assert is_uniform((full, window, chunk))
    only = pages(KvSpec("sliding", 32, 8, window=4096))
    assert promote(only) == only


def test_promoted_compressed_windows_take_the_larger_block() -> None:
    latent, window = promote(
        pages(KvSpec("mla", 20, 584, 128, 576), KvSpec("sliding_mla", 43, 584, 1, 576, 128, 64), block=256)
    )
    assert latent.block == 256
    assert (window.spec.kind, window.block, window.page) == ("mla", 256, 4 * 37_440)


def test_a_group_takes_as_many_blocks_as_its_hungriest_member() -> None:
    group = Group(pages(KvSpec("mla", 2, 132, is_index=True), KvSpec("mla", 2, 1152)))
    assert group.blocks(Demand(32_768, REQUEST, NEW)) == 2048
    assert group.bytes == 2 * 16 * (132 + 1152)
    assert group.most_layers() == 2
    assert group.grows
