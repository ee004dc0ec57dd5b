"""Packed pages of DeepSeek V4 in the three generations of the planner."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.engines.vllm.kv_pack import block_bytes, is_packed, nearest_size, packed_groups, tuple_bytes
from tonnage.engines.vllm.kv_page import Paged, paged_specs
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_spec import KvSpec


def deepseek_v4(wide: int, narrow: int, plain: int = 0) -> tuple[KvSpec, ...]:
    """Layers of ratio 128, of ratio 4, and with a window only."""
    return (
        KvSpec("sliding_mla", wide + narrow + plain, 584, 1, 576, 128, 64),
        KvSpec("mla", narrow, 132, 4, 576, is_index=True),
        KvSpec("sliding_mla", narrow, 2048, 1, 576, 8, 4, is_index=True),
        KvSpec("mla", narrow, 584, 4, 576),
        KvSpec("sliding_mla", narrow, 8192, 1, 576, 8, 4),
        KvSpec("mla", wide, 584, 128, 576),
        KvSpec("sliding_mla", wide, 4096, 1, 576, 128, 8),
    )


FLASH, PRO = deepseek_v4(20, 21, 2), deepseek_v4(31, 30)
REQUEST = KvRequest(0, 32_768, 8192)


def pages(specs: tuple[KvSpec, ...]) -> tuple[Paged, ...]:
    """With blocks of 256 tokens."""
    return paged_specs(specs, 256, REQUEST)


@pytest.mark.parametrize(
    ("specs", "version", "expected"),
    [
        # one layer of each page size (37,440 + 8,640 + 1,728 = 47,808) x 22 layer tuples
        (FLASH, (0, 22), 1_051_776),
        # 37,440 x 22 + 8,640 x 21 + 1,728 x 20
        (FLASH, (0, 23), 1_039_680),
        (FLASH, (0, 26), 1_039_680),
        # the compressed cache is the widest group: 21 x 37,440 + 21 x 8,640 + 20 x 1,728
        (FLASH, (0, 27), 1_002_240),
        (FLASH, (0, 32), 1_002_240),
        (PRO, (0, 22), 1_482_048),
        # the strides of vLLM PR 48993, https://github.com/vllm-project/vllm/pull/48993
        (PRO, (0, 26), 1_473_408),
        (PRO, (0, 32), 1_435_968),
    ],
)
def test_bytes_of_a_block(specs: tuple[KvSpec, ...], version: tuple[int, int], expected: int) -> None:
    rules = kv_rules(Version(*version))
    assert block_bytes(packed_groups(pages(specs), rules), rules) == expected


def test_groups_before_0_29_begin_with_the_cache_that_grows() -> None:
    groups = packed_groups(pages(FLASH), kv_rules(Version(0, 26)))
    assert [g.grows for g in groups] == [True, False, False, False, False]
    # window pages of 32,832 B are enlarged to the next compressed page
    assert {m.page for g in groups[1:] for m in g.members} == {37_440, 8_640}
    assert tuple_bytes(groups) == 1_051_776


def test_groups_since_0_29_keep_the_models_order() -> None:
    groups = packed_groups(pages(FLASH), kv_rules(Version(0, 32)))
    assert [g.block for g in groups] == [64, 64, 256, 4, 8]
    # 43 windows in groups of 22 and 21
    assert [sum(m.layers for m in g.members) for g in groups] == [22, 21, 62, 42, 20]
    assert {m.page for m in groups[3].members} == {32_832, 8_640}


def test_states_beside_packed_pages_are_cut_to_the_block() -> None:
    # the block holds 4 x (8,448 + 73,728); a state of 100,000 B fits three times
    specs = (KvSpec("mla", 4, 132, is_index=True), KvSpec("mla", 4, 1152), KvSpec("state", 12, 100_000))
    held = paged_specs(specs, 64, REQUEST)
    assert is_packed(held)
    groups = packed_groups(held, kv_rules(Version(0, 32)))
    assert [sum(m.layers for m in g.members) for g in groups] == [8, 3, 3, 3, 3]


def test_only_windows_need_no_growing_cache() -> None:
    rules = kv_rules(Version(0, 26))
    groups = packed_groups(pages((KvSpec("sliding_mla", 2, 584, 1, 576, 128, 64),)), rules)
    assert len(groups) == 1


def test_what_is_packed() -> None:
    assert is_packed(pages(PRO))
    latent = (KvSpec("mla", 61, 132, is_index=True), KvSpec("mla", 61, 1152))
    assert not is_packed(pages(latent))
    assert not is_packed(pages((KvSpec("full", 9, 2560), KvSpec("sliding", 39, 5120, window=128))))


@pytest.mark.parametrize(
    ("counts", "least", "expected"),
    [([61, 31, 30], 30, 31), ([43, 20, 21], 21, 22), ([10, 20, 30], 1, 10), ([7], 7, 7), ([5, 9], 12, 12)],
)
def test_nearest_size(counts: list[int], least: int, expected: int) -> None:
    assert nearest_size(counts, least) == expected


def test_stages_keep_the_cut_of_the_model() -> None:
    stage = deepseek_v4(16, 15)
    held = paged_specs(stage, 256, replace(REQUEST, model_specs=PRO))
    groups = packed_groups(held, kv_rules(Version(0, 32)))
    assert [sum(m.layers for m in g.members) for g in groups] == [16, 15, 46, 30, 16]
