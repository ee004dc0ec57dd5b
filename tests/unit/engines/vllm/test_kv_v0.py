"""The first engine generation."""

from __future__ import annotations

from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_v0 import plan_v0
from tonnage.memory.kv_spec import KvSpec

LLAMA = (KvSpec("full", 32, 4096),)
GIB = 2**30


def test_llama_on_a_24_gib_card() -> None:
    # https://github.com/vllm-project/vllm/issues/10517: 1,952 blocks of 16 x 32 x 4,096 B
    plan = plan_v0(LLAMA, KvRequest(1952 * 2_097_152, 20_000, 20_000))
    assert (plan.num_blocks, plan.tokens, plan.block_size) == (1952, 31_232, 16)
    assert plan.concurrency == 31_232 / 20_000
    assert plan.needed_bytes == 1250 * 2_097_152
    assert plan.fits
    assert plan.token_bytes == 131_072


def test_too_long_a_request_is_refused() -> None:
    plan = plan_v0(LLAMA, KvRequest(GIB, 131_072, 131_072))
    # 1 GiB / 2 MiB = 512 blocks
    assert (plan.num_blocks, plan.max_context, plan.fits) == (512, 8192, False)


def test_windows_are_kept_whole_and_states_live_elsewhere() -> None:
    specs = (KvSpec("sliding", 16, 4096, window=128), KvSpec("full", 16, 4096), KvSpec("state", 8, 10_000))
    assert plan_v0(specs, KvRequest(GIB, 4096, 4096)).bytes_per_block == 2_097_152


def test_nothing_left_and_nothing_cached() -> None:
    empty = plan_v0(LLAMA, KvRequest(-GIB, 4096, 4096))
    assert (empty.num_blocks, empty.tokens, empty.fits) == (0, 0, False)
    assert plan_v0((), KvRequest(0, 4096, 4096)).fits
