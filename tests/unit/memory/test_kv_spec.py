"""Pages of single layers, with the arithmetic of the engine's own interface beside the expected bytes."""

from __future__ import annotations

import pytest

from tonnage.memory.kv_spec import KvSpec, page_bytes

MIB = 2**20


@pytest.mark.parametrize(
    ("spec", "block", "expected"),
    [
        # 16 tokens x 8 heads x (128 + 128) values x 2 B
        (KvSpec("full", 32, 8 * 256 * 2), 16, 65_536),
        # 128 x 576 x 2 B: latent attention
        (KvSpec("mla", 61, 576 * 2), 128, 147_456),
        # 64 x 584 = 37,376 rounded up to 65 x 576
        (KvSpec("sliding_mla", 61, 584, 1, 576, 128, 64), 256, 37_440),
        # 256/128 = 2 entries x 584 = 1,168 rounded up to 3 x 576
        (KvSpec("mla", 31, 584, 128, 576), 256, 1_728),
        # 256/4 = 64 entries x 132 = 8,448 rounded up to 15 x 576
        (KvSpec("mla", 30, 132, 4, 576, is_index=True), 256, 8_640),
        # own block of 4 tokens x 8,192 = 32,768 rounded up to 57 x 576
        (KvSpec("sliding_mla", 30, 8192, 1, 576, 8, 4), 256, 32_832),
        # a state does not depend on the block
        (KvSpec("state", 36, 2_146_304), 16, 2_146_304),
    ],
)
def test_page(spec: KvSpec, block: int, expected: int) -> None:
    assert page_bytes(spec, block) == expected


def test_only_full_caches_keep_every_token() -> None:
    assert KvSpec("full", 1, 2).grows
    assert KvSpec("mla", 1, 2).grows
    assert not KvSpec("sliding", 1, 2, window=128).grows
    assert not KvSpec("chunked", 1, 2, window=8192).grows
    assert not KvSpec("state", 1, MIB).grows
