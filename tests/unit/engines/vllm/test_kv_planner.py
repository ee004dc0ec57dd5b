"""Plans against public logs, against the engine itself, and for what must always hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.engines.vllm.kv_plan import KvPlan
from tonnage.engines.vllm.kv_planner import plan_kv, plan_with_block
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_spec import KvSpec

GIB = 2**30
NEW = Version(0, 32)
LLAMA = (KvSpec("full", 32, 4096),)
GPT_OSS = (KvSpec("sliding", 18, 2048, window=128), KvSpec("full", 18, 2048))
# Qwen3.8-27B over two ranks with an fp8 cache: 2 heads x 512 x 1 B
HYBRID = (KvSpec("state", 48, 1_603_584), KvSpec("full", 16, 1024))


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
FLASH_MTP = deepseek_v4(20, 21, 3)  # the draft layer has a window only


def gib(value: float) -> int:
    """Bytes of a figure a log prints in GiB."""
    return int(value * GIB)


def test_llama_3_1_8b_on_the_first_engine() -> None:
    # https://github.com/vllm-project/vllm/issues/10517: 1,952 blocks, 31,232 tokens
    assert plan_kv(LLAMA, KvRequest(gib(3.8125), 20_000, 20_000), Version(0, 6, 4)).tokens == 31_232


def test_llama_70b_concurrency() -> None:
    # https://github.com/vllm-project/vllm/pull/12569: 1,381 blocks, 2,048 tokens, 10.79x
    plan = plan_kv((KvSpec("full", 80, 4096),), KvRequest(1381 * 16 * 80 * 4096, 2048, 2048), Version(0, 7, 1))
    assert round(plan.concurrency, 2) == 10.79


def test_qwen3_235b_over_four_ranks() -> None:
    # https://github.com/vllm-project/vllm/issues/21348: 8.11 GiB on one rank; the log's 178,880 are another rank's
    plan = plan_kv((KvSpec("full", 94, 512),), KvRequest(gib(8.11), 32_768, 8192), Version(0, 9, 2))
    assert plan.tokens == 180_928
    assert plan.token_bytes == 94 * 512


def test_fp8_cache_of_four_heads() -> None:
    # https://github.com/vllm-project/vllm/issues/25350: 10.55 GiB; 10.12 GiB needed for 221,000 tokens
    plan = plan_kv((KvSpec("full", 48, 1024),), KvRequest(gib(10.55), 221_000, 8192), Version(0, 10, 2))
    assert plan.tokens == 230_464
    assert round(plan.needed_bytes / GIB, 2) == 10.12
    assert plan.fits


def test_gpt_oss_before_0_21() -> None:
    # https://github.com/alvarobartt/hf-mem/issues/60: 5.38 GiB in two groups; log 78,384
    plan = plan_kv(GPT_OSS, KvRequest(gib(5.38), 131_072, 8192), Version(0, 11))
    assert (plan.num_groups, plan.tokens) == (2, 78_336)


def test_hybrid_model() -> None:
    # https://github.com/mitchross/talos-argocd-proxmox/pull/1995: block 1,568; 208 blocks; 302,921 tokens
    plan = plan_kv(HYBRID, KvRequest(gib(4.99), 131_072, 8192, concurrent_batches=2), Version(0, 28))
    assert (plan.block_size, plan.num_blocks, plan.tokens) == (1568, 208, 302_921)
    # 84 blocks for 131,072 tokens, 3 groups of 2 states
    assert plan.request_blocks == 90
    assert plan.fixed_bytes == 6 * 16 * 1_605_632
    assert plan.token_bytes == 16 * 1024


def test_deepseek_v4_flash_is_refused() -> None:
    # https://github.com/vllm-project/vllm/issues/44376: 6.66 GiB needed, 13,528 tokens fit into 5.44 GiB
    plan = plan_kv(FLASH, KvRequest(gib(5.44), 30_000, 16_384), Version(0, 22))
    assert round(plan.needed_bytes / GIB, 2) == 6.66
    assert plan.max_context == 13_524
    assert not plan.fits


def test_deepseek_v4_pro_on_mi300x() -> None:
    # https://github.com/vllm-project/vllm/issues/53961: 23.32 GiB for 1,048,576 tokens
    request = KvRequest(gib(20), 1_048_576, 16_384, concurrent_batches=2, platform="rocm", target="gfx942")
    assert plan_kv(PRO, request, Version(0, 29)).needed_bytes == pytest.approx(23.32 * GIB, rel=0.0005)


@pytest.mark.parametrize(
    ("pool_gib", "length", "in_flight", "predicted", "logged"),
    [(7.01, 912_128, 8192, 1_010_080, 1_009_661), (7.71, 121_344, 16_384, 150_935, 150_992)],
)
def test_deepseek_v4_flash_with_a_draft(
    pool_gib: float, length: int, in_flight: int, predicted: int, logged: int
) -> None:
    # https://github.com/vllm-project/vllm/issues/51041
    plan = plan_kv(FLASH_MTP, KvRequest(gib(pool_gib), length, in_flight), Version(0, 26))
    assert plan.tokens == predicted
    assert plan.tokens == pytest.approx(logged, rel=0.0005)


def test_stages_are_checked_against_the_whole_model_until_0_16() -> None:
    # GLM-4.7 over 8 stages, https://github.com/vllm-project/vllm/issues/32105: the message asks for all 92 layers
    stage, model = (KvSpec("full", 12, 4096),), (KvSpec("full", 92, 4096),)
    request = KvRequest(gib(20), 202_752, 8192, model_specs=model)
    assert plan_kv(stage, request, Version(0, 15)).needed_bytes == 202_752 * 92 * 4096
    assert not plan_kv(stage, request, Version(0, 15)).fits
    assert plan_kv(stage, request, Version(0, 17)).needed_bytes == 202_752 * 12 * 4096
    assert plan_kv(stage, request, Version(0, 17)).fits
    # the pool itself is the stage's
    assert plan_kv(stage, request, Version(0, 15)).bytes_per_block == 16 * 12 * 4096


def test_context_parallelism_multiplies_the_logged_tokens() -> None:
    latent = (KvSpec("mla", 61, 1152),)
    request = KvRequest(1000 * 64 * 61 * 1152, 65_536, 8192, block_size=64)
    assert plan_kv(latent, request, Version(0, 11)).tokens == 64_000
    assert plan_kv(latent, replace(request, dcp=8), Version(0, 11)).tokens == 512_000
    # 65,536 / 8 / 64 = 128 blocks: 1,000 / 128 x 65,536
    assert plan_kv(latent, replace(request, dcp=8), NEW).tokens == 512_000


def test_one_block_stays_empty_since_0_29() -> None:
    request = KvRequest(64 * 2_097_152, 1024, 8192)  # exactly 64 blocks of 16 tokens
    assert plan_kv(LLAMA, request, Version(0, 28)).max_context == 1024
    newer = plan_kv(LLAMA, request, Version(0, 29))
    assert (newer.num_blocks, newer.max_context, newer.fits) == (64, 1008, False)


def test_the_search_can_go_beyond_the_asked_length() -> None:
    request = KvRequest(1001 * 2_097_152, 1024, 8192, context_limit=131_072)
    assert plan_kv(LLAMA, request, NEW).max_context == 16_000
    assert plan_kv(LLAMA, replace(request, context_limit=None), NEW).max_context == 1024


def test_the_first_v1_releases_divide_tokens() -> None:
    plan = plan_kv(LLAMA, KvRequest(1000 * 2_097_152, 3000, 8192), Version(0, 8, 5))
    assert (plan.tokens, plan.concurrency) == (16_000, 16_000 / 3000)


def test_nothing_left() -> None:
    plan = plan_kv(GPT_OSS, KvRequest(-GIB, 4096, 8192), NEW)
    assert (plan.num_blocks, plan.tokens, plan.max_context, plan.fits) == (0, 0, 0, False)


def test_a_stage_without_caches() -> None:
    assert plan_kv((), KvRequest(GIB, 4096, 8192), NEW).fits
    assert plan_kv((), KvRequest(GIB, 4096, 8192, model_specs=LLAMA), NEW).fits


KINDS: dict[str, Any] = {
    "FullAttentionSpec": "full", "SlidingWindowSpec": "sliding", "ChunkedLocalAttentionSpec": "chunked",
    "MLAAttentionSpec": "mla", "MambaSpec": "state",
}  # fmt: skip


def spec_of(layer: dict[str, Any], row: dict[str, Any], config: dict[str, Any]) -> KvSpec:
    """The cache of one row, its window or chunk from the model's configuration."""
    kind, size = KINDS[layer["kind"]], layer["page_bytes"]
    if kind == "state":
        return KvSpec(kind, layer["layers"], size, scan="mamba2" if "Nemotron" in row["model"] else None)
    windows = {"sliding": config.get("sliding_window") or config.get("sliding_window_size"),
               "chunked": config.get("attention_chunk_size")}  # fmt: skip
    return KvSpec(kind, layer["layers"], size // layer["block_size"], window=windows.get(kind))


def test_plans_equal_the_engines_own(shared: Path) -> None:
    """Blocks, groups and both logged numbers of every row the engine planned (vLLM 0.32, block 128, one step)."""
    rows = [json.loads(line) for line in (shared / "evidence" / "oracle_vllm.jsonl").read_text().splitlines()]
    checked = 0
    for row in rows:
        if "num_blocks" not in row:
            continue
        config = json.loads((shared / "models" / f"{row['model']}.json").read_text())
        specs = tuple(spec_of(layer, row, config.get("text_config", config)) for layer in row["kv_layers"])
        request = KvRequest(row["available_kv_bytes"], row["max_model_len"], 8192)
        plan = plan_with_block(specs, 128, request, kv_rules(NEW))
        got = (plan.num_blocks, plan.num_groups, plan.tokens, round(plan.concurrency, 4))
        expected = (row["num_blocks"], row["groups"], row["kv_tokens_logged"], row["max_concurrency"])
        assert got == expected, row["model"]
        checked += 1
    assert checked >= 250


VERSIONS = [Version(0, 6), Version(0, 8, 5), Version(0, 10), Version(0, 14), Version(0, 19), Version(0, 22),
            Version(0, 24), Version(0, 26), Version(0, 28), NEW]  # fmt: skip
MODELS = [LLAMA, GPT_OSS, HYBRID, FLASH, PRO, (KvSpec("chunked", 36, 4096, window=8192), KvSpec("full", 12, 4096))]
plans = st.tuples(
    st.sampled_from(MODELS),
    st.builds(
        KvRequest,
        available_bytes=st.integers(-GIB, 200 * GIB),
        max_model_len=st.integers(1, 1_048_576),
        max_num_batched_tokens=st.sampled_from([512, 2048, 8192, 16_384]),
        concurrent_batches=st.sampled_from([1, 2]),
    ),
    st.sampled_from(VERSIONS),
)


def numbers(plan: KvPlan) -> list[float]:
    """All sizes of a plan."""
    return [plan.bytes_per_block, plan.num_blocks, plan.tokens, plan.concurrency, plan.request_blocks,
            plan.needed_bytes, plan.max_context, plan.token_bytes, plan.fixed_bytes]  # fmt: skip


@given(plans)
@settings(deadline=None)
def test_nothing_is_negative_and_the_pool_never_overflows(case: tuple[tuple[KvSpec, ...], KvRequest, Version]) -> None:
    plan = plan_kv(*case)
    assert min(numbers(plan)) >= 0
    assert plan.num_blocks * plan.bytes_per_block <= max(0, case[1].available_bytes)


@given(plans, st.integers(0, 50 * GIB))
@settings(deadline=None)
def test_more_memory_never_gives_less(case: tuple[tuple[KvSpec, ...], KvRequest, Version], extra: int) -> None:
    specs, request, version = case
    less = plan_kv(specs, request, version)
    more = plan_kv(specs, replace(request, available_bytes=request.available_bytes + extra), version)
    assert more.num_blocks >= less.num_blocks
    assert more.tokens >= less.tokens
    assert more.max_context >= less.max_context
    assert more.fits or not less.fits


@given(plans, st.integers(0, 500_000))
@settings(deadline=None)
def test_longer_requests_never_need_less(case: tuple[tuple[KvSpec, ...], KvRequest, Version], extra: int) -> None:
    specs, request, version = case
    short = plan_kv(specs, request, version)
    long = plan_kv(specs, replace(request, max_model_len=request.max_model_len + extra), version)
    assert long.needed_bytes >= short.needed_bytes
    assert long.concurrency <= short.concurrency
    assert short.fits or not long.fits


@given(plans)
@settings(deadline=None)
def test_the_longest_context_fits_and_one_token_more_does_not(
    case: tuple[tuple[KvSpec, ...], KvRequest, Version],
) -> None:
    specs, request, version = case
    longest = plan_kv(specs, request, version).max_context
    if longest:
        assert plan_kv(specs, replace(request, max_model_len=longest), version).fits
    if longest < request.max_model_len:
        assert not plan_kv(specs, replace(request, max_model_len=longest + 1), version).fits


@given(st.integers(1, 200 * GIB), st.integers(1, 1_048_576), st.sampled_from([1, 2, 4, 8]))
@settings(deadline=None)
def test_more_context_parallelism_never_needs_more(available: int, length: int, dcp: int) -> None:
    request = KvRequest(available, length, 8192)
    latent = (KvSpec("mla", 61, 1152),)
    single, divided = plan_kv(latent, request, NEW), plan_kv(latent, replace(request, dcp=dcp), NEW)
    assert divided.needed_bytes <= single.needed_bytes
    assert divided.max_context >= single.max_context
