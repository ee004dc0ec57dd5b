"""Blocks one request takes from one block table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.engines.vllm.kv_page import Demand, Paged, paged_specs
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_spec import KvSpec

REQUEST = KvRequest(0, 32_768, 8192, concurrent_batches=2)
OLD, NEW = kv_rules(Version(0, 25, 1)), kv_rules(Version(0, 32))


def paged(spec: KvSpec, block: int = 16) -> Paged:
    """One cache of the rank."""
    return paged_specs((spec,), block, REQUEST)[0]


def test_full_attention_takes_all_tokens() -> None:
    full = paged(KvSpec("full", 32, 4096))
    assert full.page == 65_536
    assert Demand(32_768, REQUEST, NEW).blocks(full) == 2048
    assert Demand(32_769, REQUEST, NEW).blocks(full) == 2049


def test_context_parallelism_divides_tokens_before_blocks() -> None:
    full = paged(KvSpec("mla", 61, 1152), 64)
    # 32,769 / 8 = 4,097 tokens: 65 blocks
    assert Demand(32_769, replace(REQUEST, dcp=8), NEW).blocks(full) == 65


def test_windows_keep_what_is_in_flight_and_one_block_more() -> None:
    window = paged(KvSpec("sliding", 18, 2048, window=128))
    # until 0.25 one step: (127 + 8,192)/16 = 519.9 -> 520 + 1
    assert Demand(32_768, REQUEST, OLD).blocks(window) == 521
    # since 0.26 two steps: (127 + 16,384)/16 = 1,031.9 -> 1,032 + 1
    assert Demand(32_768, REQUEST, NEW).blocks(window) == 1033
    # never more than the request: 100/16 -> 7 + 1
    assert Demand(100, REQUEST, NEW).blocks(window) == 8


def test_chunks_keep_a_chunk_and_what_is_in_flight() -> None:
    chunk = paged(KvSpec("chunked", 36, 4096, window=8192))
    # a chunk and a step of 8,192 tokens each, 16 to a block
    assert Demand(32_768, REQUEST, OLD).blocks(chunk) == 1024
    assert Demand(1000, REQUEST, OLD).blocks(chunk) == 63


@pytest.mark.parametrize(
    ("mode", "num_spec", "old", "new"),
    [("none", 0, 1, 1), ("align", 0, 2, 2), ("align", 3, 5, 5), ("all", 1, 2049, 2049), (None, 0, 1, 2)],
)
def test_states(mode: str | None, num_spec: int, old: int, new: int) -> None:
    request = replace(REQUEST, state_mode=mode, num_spec=num_spec)
    state = paged(KvSpec("state", 48, 1_603_584))
    assert Demand(32_768, request, OLD).blocks(state) == old
    assert Demand(32_768, request, NEW).blocks(state) == new


def test_scans_keep_a_checkpoint() -> None:
    mamba, kimi = paged(KvSpec("state", 54, 1, scan="mamba2")), paged(KvSpec("state", 54, 1, scan="kda"))
    assert Demand(1, REQUEST, NEW).blocks(mamba) == 3
    assert Demand(1, REQUEST, NEW).blocks(kimi) == 3
    assert Demand(1, REQUEST, kv_rules(Version(0, 31))).blocks(mamba) == 2
    assert Demand(1, replace(REQUEST, platform="rocm"), NEW).blocks(kimi) == 2
    assert Demand(1, replace(REQUEST, state_mode="none"), NEW).blocks(mamba) == 1


def test_states_are_cached_by_default_since_0_28() -> None:
    # 0.27.1 keeps one: a 27B hybrid needs 168 blocks and 3 states, 8.18 GiB of 171 blocks, as logged.
    mamba = paged(KvSpec("state", 54, 1, scan="mamba2"))
    assert Demand(32_768, REQUEST, kv_rules(Version(0, 27, 1))).blocks(mamba) == 1
    assert Demand(32_768, REQUEST, kv_rules(Version(0, 28))).blocks(mamba) == 2


def test_rings_and_encoders() -> None:
    assert Demand(9000, REQUEST, NEW).blocks(paged(KvSpec("ring", 3, 4096, block=8))) == 1
    # Whisper's 1,500 encoder positions
    cross = paged(KvSpec("cross", 32, 5120))
    assert Demand(448, replace(REQUEST, encoder_tokens=1500), NEW).blocks(cross) == 94


def test_stages_know_the_layers_of_the_whole_model() -> None:
    stage = (KvSpec("state", 23, 100), KvSpec("full", 7, 8))
    model = (KvSpec("state", 45, 100), KvSpec("full", 15, 8), KvSpec("sliding", 4, 8, window=128))
    pages = paged_specs(stage, 16, replace(REQUEST, model_specs=model))
    assert [(p.layers, p.model_layers) for p in pages] == [(23, 45), (7, 15), (0, 4)]
    # the model's order decides which group is the first, also on a stage that begins with another layer
    turned = paged_specs(stage[::-1], 16, replace(REQUEST, model_specs=model))
    assert [p.spec.kind for p in turned] == ["state", "full", "sliding"]
