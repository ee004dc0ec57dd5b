"""Logs against arithmetic: the tokens a log prints times the bytes of a token are the cache it prints."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tonnage.plan.log_engine import read_log

GIB, MIB = 2**30, 2**20


@dataclass(frozen=True)
class Case:
    """A public log of a model with pure attention: how many bytes one token takes on one rank."""

    log: str
    token_bytes: int
    source: str


CASES = (
    # Llama 3.1 8B: 32 layers x 2 x 8 heads x 128 x 2 B
    Case(
        """\
Loading model weights took 14.9888 GB
Memory profiling results: total_gpu_memory=23.58GiB peak_torch_memory=17.06GiB non_torch_memory=0.35GiB \
kv_cache_size=3.81GiB gpu_memory_utilization=0.90
# GPU blocks: 1952, # CPU blocks: 2048
Maximum concurrency for 20000 tokens per request: 1.56x
""",
        131_072,
        "https://github.com/vllm-project/vllm/issues/10517",
    ),
    # The same at twice the length
    Case(
        """\
Memory profiling results: total_gpu_memory=23.58GiB peak_torch_memory=17.98GiB kv_cache_size=2.89GiB
# GPU blocks: 1478, # CPU blocks: 2048
Maximum concurrency for 29000 tokens per request: 0.82x
""",
        131_072,
        "https://github.com/vllm-project/vllm/issues/10517",
    ),
    # Llama 3.2 11B Vision: 40 layers x 2 x 8 x 128 x 2 B, blocks of 16; the concurrency is not in the report, so it is
    # added: 6001 x 16 / 65536 = 1.465
    Case(
        """\
INFO 01-16 09:40:00 worker.py:238] model weights take 19.86GiB; non_torch_memory takes 0.16GiB; PyTorch activation \
peak memory takes 36.63GiB; the rest of the memory reserved for KV Cache is 14.65GiB.
INFO 01-16 09:40:00 executor_base.py:95] # CUDA blocks: 6001, # CPU blocks: 1638
INFO 01-16 09:40:00 executor_base.py:98] Maximum concurrency for 65536 tokens per request: 1.47x
""",
        163_840,
        "https://github.com/vllm-project/vllm/pull/12126",
    ),
    # Qwen3 235B on four ranks: 94 layers x 2 x 1 head x 128 x 2 B
    Case(
        "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB",
        48_128,
        "https://github.com/vllm-project/vllm/issues/21348",
    ),
    # Gemma 3 4B in the versions without sliding pools: 34 layers x 2 x 4 x 256 x 2 B
    Case(
        "[2025-03-27 21:33:31 TP0] KV Cache is allocated. #tokens: 834615, K size: 54.12 GB, V size: 54.12 GB",
        139_264,
        "https://github.com/sgl-project/sglang/pull/4826",
    ),
    # Qwen3-Omni 30B, the thinker on four ranks: 48 layers x 2 x 1 x 128 x 2 B
    Case(
        "[2025-12-28 10:40:09 TP2] KV Cache is allocated. #tokens: 2090351, K size: 23.92 GB, V size: 23.92 GB",
        24_576,
        "https://github.com/sgl-project/sglang/pull/15909",
    ),
    # Qwen2.5 32B with a cache of q8_0: 64 layers x 2 x 1024 values x 34 B for 32 values
    Case(
        """\
llama_new_context_with_model: n_ctx      = 32768
llama_kv_cache_init:      ROCm0 KV buffer size =  4352.00 MiB
""",
        139_264,
        "https://github.com/ggml-org/llama.cpp/issues/11337",
    ),
    # TriLM 3.9B: 30 layers x 2 x 3072 values x 2 B
    Case(
        """\
llama_new_context_with_model: n_ctx      = 512
llama_kv_cache_init:      CUDA0 KV buffer size =   180.00 MiB
""",
        368_640,
        "https://github.com/mozilla-ai/llamafile/pull/552",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.source.removeprefix("https://github.com/"))
def test_tokens_times_bytes_are_the_cache(case: Case) -> None:
    receipt = read_log(case.log)
    (cache,) = [line for line in receipt.lines if line.name == "kv_cache"]
    assert receipt.kv_cache_tokens is not None
    size = receipt.kv_cache_tokens * case.token_bytes
    block = (receipt.block_size or 1) * case.token_bytes
    print(f"{case.source}: {size / GIB:.4f} GiB, the log says {cache.bytes / GIB:.4f}")
    assert cache.low - block <= size <= cache.high


@pytest.mark.parametrize(
    ("line", "token_bytes", "block", "source"),
    [
        # Qwen3 0.6B on a CPU, blocks of 128: 28 layers x 2 x 8 x 128 x 2 B
        (
            "(EngineCore_DP0 pid=64528) ERROR 11-18 [core.py:842] ValueError: To serve at least one request with "
            "the models's max seq len (40960), (4.38 GiB KV cache is needed, which is larger than the available KV "
            "cache memory (4.00 GiB). Based on the available memory, the estimated maximum model length is 37376.",
            114_688,
            128,
            "https://github.com/vllm-project/vllm/issues/29233",
        ),
        # Qwen3 Coder 30B: 48 x 2 x 4 x 128 x 2 B; all layers, although a stage of the pipeline holds 16 or 32
        (
            "ValueError: To serve at least one request with the models's max seq len (262144), "
            "(24.0 GiB KV cache is needed, which is larger than the available KV cache memory (3.18 GiB). Based "
            "on the available memory, the estimated maximum model length is 34736.",
            98_304,
            16,
            "https://github.com/vllm-project/vllm/issues/34076",
        ),
    ],
    ids=lambda value: value.removeprefix("https://github.com/") if str(value).startswith("https") else "",
)
def test_refusals_state_what_the_tokens_take(line: str, token_bytes: int, block: int, source: str) -> None:
    receipt = read_log(line)
    assert receipt.max_model_len is not None
    assert receipt.kv_needed_bytes is not None
    assert receipt.est_max_model_len is not None
    needed = receipt.max_model_len * token_bytes
    print(f"{source}: {needed / GIB:.4f} GiB needed, the log says {receipt.kv_needed_bytes / GIB:.4f}")
    assert abs(needed - receipt.kv_needed_bytes) <= 0.05 * GIB  # 24.0 is printed with one digit
    (cache,) = [each for each in receipt.lines if each.name == "kv_cache"]
    # the longest that fits, to a block, in what the log rounds to two digits
    assert cache.low - block * token_bytes <= receipt.est_max_model_len * token_bytes <= cache.high


def test_parts_add_up_to_the_budget() -> None:
    # https://github.com/vllm-project/vllm/pull/10511: 14.96 + 1.79 + 1.26 + 53.29 = 71.30 of 71.29
    receipt = read_log(
        """\
INFO 12-13 19:54:18 worker.py:243] the current vLLM instance can use    71.29GiB
INFO 12-13 19:54:18 worker.py:243] model weights take   14.96GiB
INFO 12-13 19:54:18 worker.py:243] non_torch_memory     1.79GiB
INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory       1.26GiB
INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory    53.29GiB
"""
    )
    assert receipt.budget_bytes is not None
    assert sum(line.low for line in receipt.lines) <= receipt.budget_bytes <= sum(line.high for line in receipt.lines)
