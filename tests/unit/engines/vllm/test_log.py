"""vLLM's start-up log, in excerpts of public reports."""

from __future__ import annotations

import tracemalloc
from itertools import chain, repeat

import pytest

from tonnage.engines.vllm.log import RULES
from tonnage.memory.log_reader import LogReader
from tonnage.memory.receipt import Receipt

GIB = 2**30

# https://github.com/vllm-project/vllm/issues/10517 (0.6, V0)
V0_PROFILE = """\
Loading model weights took 14.9888 GB
Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.06GiB \
memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB kv_cache_size=3.81GiB gpu_memory_utilization=0.90
GPU blocks: 1952, # CPU blocks: 2048
Maximum concurrency for 20000 tokens per request: 1.56x
"""
# the same report, one request too long
V0_TOO_LONG = """\
Loading model weights took 14.9888 GB
# GPU blocks: 1478, # CPU blocks: 2048
Maximum concurrency for 29000 tokens per request: 0.82x
The model's max seq len (29000) is larger than the maximum number of tokens that can be stored in KV cache (23648). \
Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.
"""
# https://github.com/vllm-project/vllm/pull/10511 (between 0.6.4 and 0.6.5: one line for each figure)
V0_COLUMNS = """\
INFO 12-13 19:54:18 worker.py:243] Memory profiling results:
INFO 12-13 19:54:18 worker.py:243] duration     0.75 seconds
INFO 12-13 19:54:18 worker.py:243] total_gpu_memory     79.22GiB
INFO 12-13 19:54:18 worker.py:243] gpu_memory_utilization       0.90
INFO 12-13 19:54:18 worker.py:243] the current vLLM instance can use    71.29GiB
INFO 12-13 19:54:18 worker.py:243] model weights take   14.96GiB
INFO 12-13 19:54:18 worker.py:243] non_torch_memory     1.79GiB
INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory       1.26GiB
INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory    53.29GiB
"""
# https://github.com/vllm-project/vllm/pull/12126 (0.7, V0)
V0_SENTENCE = """\
INFO 01-16 09:40:00 worker.py:238] the current vLLM instance can use total_gpu_memory (79.22GiB) x \
gpu_memory_utilization (0.90) = 71.29GiB
INFO 01-16 09:40:00 worker.py:238] model weights take 19.86GiB; non_torch_memory takes 0.16GiB; PyTorch activation \
peak memory takes 36.63GiB; the rest of the memory reserved for KV Cache is 14.65GiB.
INFO 01-16 09:40:00 executor_base.py:95] # CUDA blocks: 6001, # CPU blocks: 1638
"""
# https://github.com/vllm-project/vllm/issues/14452 (two cards, the second works with less)
V0_TWO_RANKS = """\
INFO 04-23 14:48:44 [worker.py:287] model weights take 10.80GiB; non_torch_memory takes 0.33GiB; PyTorch activation \
peak memory takes 1.01GiB; the rest of the memory reserved for KV Cache is 14.52GiB.
(VllmWorkerProcess pid=12897) INFO 04-23 14:48:44 [worker.py:287] the current vLLM instance can use total_gpu_memory \
(31.37GiB) x gpu_memory_utilization (0.85) = 26.66GiB
(VllmWorkerProcess pid=12897) INFO 04-23 14:48:44 [worker.py:287] model weights take 10.30GiB; non_torch_memory takes \
0.33GiB; PyTorch activation peak memory takes 1.77GiB; the rest of the memory reserved for KV Cache is 14.26GiB.
INFO 04-23 14:48:44 [executor_base.py:112] # cuda blocks: 7299, # CPU blocks: 2048
INFO 04-23 14:48:44 [executor_base.py:117] Maximum concurrency for 50000 tokens per request: 2.34x
"""
# https://github.com/vllm-project/vllm/pull/12569 (early V1)
V1_BLOCKS = """\
INFO 01-30 03:18:12 gpu_model_runner.py:848] Loading model weights took 67.7229 GB
INFO 01-30 03:19:14 kv_cache_utils.py:395] # GPU blocks: 1381
INFO 01-30 03:19:14 kv_cache_utils.py:398] Maximum concurrency for 2048 tokens per request: 10.79x
"""
# https://github.com/vllm-project/vllm/pull/17122 (0.8)
V1_TOKENS = """\
INFO 04-24 16:33:00 [gpu_model_runner.py:1316] Model loading took 14.9889 GiB and 3.652170 seconds
INFO 04-24 16:33:13 [kv_cache_utils.py:634] GPU KV cache size: 158,656 tokens
INFO 04-24 16:33:13 [kv_cache_utils.py:637] Maximum concurrency for 32,768 tokens per request: 4.84x
"""
# https://github.com/vllm-project/vllm/issues/15928 (0.8, every worker prints its own count)
V1_EVERY_RANK = """\
INFO 04-01 10:13:16 [kv_cache_utils.py:566] GPU KV cache size: 107,824 tokens
INFO 04-01 10:13:16 [kv_cache_utils.py:569] Maximum concurrency for 32,768 tokens per request: 3.29x
INFO 04-01 10:13:16 [kv_cache_utils.py:566] GPU KV cache size: 107,312 tokens
INFO 04-01 10:13:16 [kv_cache_utils.py:569] Maximum concurrency for 32,768 tokens per request: 3.27x
INFO 04-01 10:13:16 [kv_cache_utils.py:566] GPU KV cache size: 107,344 tokens
INFO 04-01 10:13:16 [kv_cache_utils.py:569] Maximum concurrency for 32,768 tokens per request: 3.28x
"""
# https://github.com/vllm-project/vllm/issues/28228 (0.11, hybrid model, two ranks)
V1_PREFIXES = """\
(Worker_TP0 pid=26347) INFO 11-06 10:51:48 [gpu_worker.py:349] Available KV cache memory: 2.30 GiB
(EngineCore_DP0 pid=26283) INFO 11-06 10:51:48 [kv_cache_utils.py:1229] GPU KV cache size: 75,840 tokens
(EngineCore_DP0 pid=26283) INFO 11-06 10:51:48 [kv_cache_utils.py:1234] Maximum concurrency for 120,000 tokens per \
request: 2.48x
"""
# https://github.com/vllm-project/vllm/issues/16141 (0.8.3; the configuration is long, and was wrapped where it stands)
V1_CONFIG = """\
INFO 04-06 18:44:06 [core.py:61] Initializing a V1 LLM engine (v0.8.3) with config: \
model='Qwen/Qwen2.5-0.5B-Instruct-AWQ', speculative_config=None, tokenizer='Qwen/Qwen2.5-0.5B-Instruct-AWQ', \
skip_tokenizer_init=False, trust_remote_code=False, dtype=torch.float16, max_seq_len=512, download_dir=None, \
load_format=LoadFormat.AUTO, tensor_parallel_size=1, pipeline_parallel_size=1, disable_custom_all_reduce=False, \
quantization=awq_marlin, enforce_
eager=False, kv_cache_dtype=auto,  device_config=cuda, seed=None, served_model_name=Qwen/Qwen2.5-0.5B-Instruct-AWQ, \
chunked_prefill_enabled=True, pooler_config=None, compilation_config={"level":3}
INFO 04-06 18:44:07 [gpu_model_runner.py:1067] Model loading took 0.4268 GB and 0.977005 seconds
"""
# https://github.com/vllm-project/vllm/issues/51454 (0.25.0: banner and arguments)
ARGUMENTS = """\
INFO 08-07 21:32:22 [api_utils.py:339]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.25.0
INFO 08-07 21:32:22 [api_utils.py:273] non-default args: {'model_tag': '/models/DeepSeek-V4-Flash-0731', \
'api_server_count': 8, 'enable_auto_tool_choice': True, 'model': '/models/DeepSeek-V4-Flash-0731', \
'tokenizer_mode': 'deepseek_v4', 'trust_remote_code': True, 'served_model_name': ['deepseek-v4-flash-0731'], \
'data_parallel_size': 8, 'enable_expert_parallel': True, 'block_size': 256, 'gpu_memory_utilization': 0.95, \
'kv_cache_dtype': 'fp8', 'max_num_batched_tokens': 8192, 'max_num_seqs': 256}
"""
# https://github.com/gpustack/runner/pull/251 (0.27.1)
ESTIMATE = """\
(Worker_TP1 pid=448) INFO 08-14 14:07:22 [gpu_model_runner.py:6806] Estimated CUDA graph memory: 0.36 GiB total
(Worker_TP1 pid=448) INFO 08-14 14:07:22 [gpu_worker.py:578] CUDA graph memory profiling is enabled (default since \
v0.21.0). The current --gpu-memory-utilization=0.8200 is equivalent to --gpu-memory-utilization=0.8048 without CUDA \
graph memory profiling.
(Worker_TP0 pid=447) INFO 08-14 14:07:22 [gpu_model_runner.py:6806] Estimated CUDA graph memory: 0.36 GiB total
(Worker_TP0 pid=447) INFO 08-14 14:07:22 [gpu_worker.py:563] Available KV cache memory: 6.87 GiB
"""
# https://github.com/aivrar/vllm-windows-build/issues/4
GRAPHS = """\
INFO 05-26 21:34:12 [kv_cache_utils.py:1710] GPU KV cache size: 396,928 tokens
INFO 05-26 21:34:12 [kv_cache_utils.py:1711] Maximum concurrency for 131,072 tokens per request: 3.03x
INFO 05-26 21:34:14 [gpu_model_runner.py:6243] Graph capturing finished in 2 secs, took 0.11 GiB
INFO 05-26 21:34:14 [gpu_worker.py:621] CUDA graph pool memory: 0.11 GiB (actual), 0.14 GiB (estimated), difference: \
0.03 GiB (25.0%).
INFO 05-26 21:34:14 [core.py:299] init engine (profile, create kv cache, warmup model) took 13.70 s
"""
# https://github.com/vllm-project/vllm/pull/21489 (0.10.1: what the option was introduced with)
SUMMARY = """\
Free memory on device (177.66/178.36 GiB) on startup. Desired GPU memory utilization is (0.9, 160.53 GiB). Actual \
usage is 8.58 GiB for weight, 9.96 GiB for peak activation, 0.07 GiB for non-torch memory, and 0.65 GiB for CUDAGraph \
memory. Replace gpu_memory_utilization config with `--kv-cache-memory=151519866880` to fit into requested memory
"""
# https://github.com/SergiioB/intel-arc-pro-b70-inference-cookbook/issues/4 (pasted with hard wraps)
WRAPPED_REFUSAL = """\
(EngineCore pid=316) INFO 08-21 18:37:44 [gpu_worker.py:492] Initial free memory 31.16 GiB, reserved 4.25 GiB memory \
for KV Cache as specified by kv_cache_memory_bytes config and skipped memory profiling.
(EngineCore pid=316) ERROR 08-21 18:37:44 [core.py:1344] EngineCore failed to start.
(EngineCore pid=316)     raise ValueError(
(EngineCore pid=316) ValueError: To serve at least one request with the model's max seq len (100000), (4.26 GiB KV cach
e is needed, which is larger than the available KV cache memory (4.25 GiB). Based on the avai
lable memory, the estimated maximum model length is 99840.
"""
# https://github.com/vllm-project/vllm/issues/20305 (0.9.1: refused before loading)
NOT_FREE = """\
ERROR 06-30 13:53:19 [multiproc_executor.py:492] ValueError: Free memory on device (31.44/47.38 GiB) on startup is \
less than desired GPU memory utilization (0.95, 45.01 GiB). Decrease GPU memory utilization or reduce GPU memory used \
by other processes.
ERROR 06-30 13:53:19 [core.py:515] EngineCore failed to start.
"""
# https://github.com/vllm-project/vllm/issues/10439 (docker compose puts its name in front)
NO_BLOCKS = """\
vllm-1  | ERROR 11-18 18:07:28 engine.py:366]     raise ValueError("No available memory for the cache blocks. "
vllm-1  | ERROR 11-18 18:07:28 engine.py:366] ValueError: No available memory for the cache blocks. Try increasing \
`gpu_memory_utilization` when initializing the engine.
"""
# https://github.com/vllm-project/vllm/issues/31903 (workers of a cluster speak through the engine)
CLUSTER = """\
(EngineCore_DP0 pid=749) INFO 01-07 00:15:33 [kv_cache_utils.py:1305] GPU KV cache size: 1,214,464 tokens
(EngineCore_DP0 pid=749) INFO 01-07 00:15:33 [kv_cache_utils.py:1310] Maximum concurrency for 163,840 tokens per \
request: 7.41x
(EngineCore_DP0 pid=749) (RayWorkerWrapper pid=347, ip=172.16.17.12) ERROR 01-07 00:15:31 [worker_base.py:344] Error
"""
# One line for both counts from 0.30 on; the figures are those of https://github.com/vllm-project/vllm/pull/17122.
ONE_LINE = """\
INFO 04-24 16:33:13 [kv_cache_utils.py:2315] GPU KV cache size: 158,656 tokens, Maximum concurrency for 32,768 tokens \
per request: 4.84x
"""
# https://github.com/noonghunna/club-3090/issues/295 (0.2x, quantization asked for, nested settings)
NESTED = """\
(EngineCore pid=120) INFO 06-01 09:22:30 [kv_cache_utils.py:1733] GPU KV cache size: 620,944 tokens
(EngineCore pid=120) INFO 06-01 09:22:30 [kv_cache_utils.py:1734] Maximum concurrency for 262,144 tokens per \
request: 2.37x
(APIServer pid=1) INFO 06-01 09:20:16 [utils.py:278] non-default args: {'model_tag': '/m/qwen3.6-27b-autoround-int4', \
'default_chat_template_kwargs': {'enable_thinking': False}, 'host': '0.0.0.0', \
'model': '/m/qwen3.6-27b-autoround-int4', \
'trust_remote_code': True, 'dtype': 'float16', 'max_model_len': 262144, 'quantization': 'auto_round', \
'override_generation_config': {'temperature': 0.6, 'top_p': 0.95}, 'tensor_parallel_size': 2, \
'kv_cache_dtype': 'fp8_e5m2', 'max_num_batched_tokens': 8192, 'max_num_seqs': 2, \
'speculative_config': {'method': 'mtp', 'num_speculative_tokens': 3}}
"""


def read(text: str) -> Receipt:
    """The receipt of an excerpt."""
    return LogReader(RULES).read(text.splitlines())


def gib(receipt: Receipt, name: str) -> float | None:
    """A line in GiB with the decimals a log has."""
    size = {line.name: line.bytes for line in receipt.lines}.get(name)  # type: ignore[call-overload]
    return None if size is None else round(size / GIB, 2)


def test_v0_profile_counts_the_weights_into_the_peak() -> None:
    receipt = read(V0_PROFILE)
    assert gib(receipt, "weights") == 14.99
    assert gib(receipt, "activations") == 2.07  # 17.06 - 14.9888
    assert gib(receipt, "context") == 0.35
    assert gib(receipt, "kv_cache") == 3.81
    assert receipt.card_total_bytes == round(23.58 * GIB)
    assert receipt.settings.gpu_memory_utilization == 0.9


def test_v0_blocks_become_tokens() -> None:
    # 1952 x 16 / 20000 = 1.5616, printed as 1.56x; with blocks of 8 or 32 it would be 0.78x or 3.12x
    receipt = read(V0_PROFILE)
    assert (receipt.num_blocks, receipt.block_size, receipt.kv_cache_tokens) == (1952, 16, 31_232)
    assert (receipt.max_concurrency_x, receipt.max_model_len) == (1.56, 20_000)


def test_v0_refusal_of_a_long_request() -> None:
    receipt = read(V0_TOO_LONG)
    assert receipt.outcome == "refused"
    assert receipt.refusal is not None
    assert receipt.refusal.startswith("The model's max seq len (29000) is larger")
    assert receipt.kv_cache_tokens == 23_648  # 1478 x 16
    assert receipt.max_model_len == 29_000


def test_figures_on_lines_of_their_own() -> None:
    receipt = read(V0_COLUMNS)
    found = {name: gib(receipt, name) for name in ("weights", "activations", "context", "kv_cache")}
    assert found == {"weights": 14.96, "activations": 1.26, "context": 1.79, "kv_cache": 53.29}
    # 14.96 + 1.26 + 1.79 + 53.29 = 71.30, the budget of 71.29 to rounding
    assert receipt.budget_bytes == round(71.29 * GIB)


def test_the_sentence_of_0_7() -> None:
    receipt = read(V0_SENTENCE)
    assert gib(receipt, "activations") == 36.63
    assert receipt.num_blocks == 6001
    assert receipt.kv_cache_tokens is None  # no concurrency is printed, so the block size is not known
    # 79.22 x 0.90 = 71.298
    assert (receipt.card_total_bytes, receipt.budget_bytes) == (round(79.22 * GIB), round(71.29 * GIB))


def test_ranks_keep_their_own_lines() -> None:
    receipt = read(V0_TWO_RANKS)
    assert [rank.name for rank in receipt.ranks] == ["", "VllmWorkerProcess 12897"]
    assert gib(receipt, "weights") == 10.8  # the larger
    assert gib(receipt, "kv_cache") == 14.26  # the smaller, which decides
    assert receipt.num_blocks == 7299
    assert receipt.block_size == 16  # 7299 x 16 / 50000 = 2.3357


def test_early_v1() -> None:
    receipt = read(V1_BLOCKS)
    assert gib(receipt, "weights") == 67.72
    assert receipt.kv_cache_tokens == 22_096  # 1381 x 16; 22096 / 2048 = 10.789


def test_bands_are_the_last_digit() -> None:
    line = read(V1_TOKENS).lines[0]
    assert line.bytes == 16_094_208_826  # 14.9889 x 2**30 = 16,094,208,826.4
    assert line.high - line.bytes == 53_687  # 0.00005 x 2**30
    assert line.basis == "measured"


def test_the_smallest_count_decides() -> None:
    receipt = read(V1_EVERY_RANK)
    assert receipt.kv_cache_tokens == 107_312
    assert receipt.max_concurrency_x == 3.27


def test_prefixes_name_the_rank() -> None:
    receipt = read(V1_PREFIXES)
    assert [rank.name for rank in receipt.ranks] == ["Worker_TP0"]
    assert (receipt.kv_cache_tokens, receipt.max_concurrency_x) == (75_840, 2.48)


def test_configuration_across_a_wrap() -> None:
    receipt = read(V1_CONFIG)
    assert receipt.engine_version == "0.8.3"
    assert receipt.settings.record() == {
        "model": "Qwen/Qwen2.5-0.5B-Instruct-AWQ",
        "gpu_count": 1,
        "tp": 1,
        "pp": 1,
        "dtype": "float16",
        "stored_quantization": "awq_marlin",
        "kv_cache_dtype": "auto",
        "max_model_len": 512,
        "enforce_eager": False,
    }
    assert gib(receipt, "weights") == 0.43


def test_arguments_and_banner() -> None:
    receipt = read(ARGUMENTS)
    assert receipt.engine_version == "0.25.0"
    assert receipt.settings.record() == {
        "model": "/models/DeepSeek-V4-Flash-0731",
        "gpu_count": 8,
        "dp": 8,
        "ep": True,
        "kv_cache_dtype": "fp8",
        "max_num_seqs": 256,
        "max_num_batched_tokens": 8192,
        "block_size": 256,
        "gpu_memory_utilization": 0.95,
    }


def test_estimate_of_graphs_is_no_line() -> None:
    receipt = read(ESTIMATE)
    assert receipt.cuda_graph_estimate_bytes == round(0.36 * GIB)
    assert gib(receipt, "cuda_graphs") is None
    assert gib(receipt, "kv_cache") == 6.87


def test_captured_graphs() -> None:
    receipt = read(GRAPHS)
    assert gib(receipt, "cuda_graphs") == 0.11
    assert receipt.outcome == "started"
    assert receipt.kv_cache_tokens == 396_928


def test_summary_of_0_10() -> None:
    receipt = read(SUMMARY)
    found = {name: gib(receipt, name) for name in ("weights", "activations", "context", "cuda_graphs")}
    assert found == {"weights": 8.58, "activations": 9.96, "context": 0.07, "cuda_graphs": 0.65}
    assert receipt.budget_bytes == round(160.53 * GIB)
    assert receipt.card_total_bytes == round(178.36 * GIB)


def summary(consumed: float, peak: float, cache: float, budget: float) -> str:
    """A start of 0.27 to 0.33 with weights of 8 GiB and an estimate of 3.9 GiB for graphs."""
    return (
        "Model loading took 8.0 GiB memory and 9.0 seconds\nEstimated CUDA graph memory: 3.9 GiB total\n"
        f"Available KV cache memory: {cache} GiB\n"
        f"Free memory on device (191.36/191.69 GiB) on startup. Desired GPU memory utilization is (0.9, {budget} GiB). "
        f"Actual usage is {consumed} GiB for consumed memory (weights + non-torch), {peak} GiB for peak activation, "
        f"and 3.9 GiB for CUDAGraph memory. Current kv cache memory in use is {cache} GiB."
    )


def test_peak_that_holds_the_estimate() -> None:
    # 172.52 - 11.88 - 5.59 - 155.04 = 0.01: nothing is left for the estimate, so it is inside the peak
    receipt = read(summary(11.88, 5.59, 155.04, 172.52))
    assert gib(receipt, "activations") == 1.69  # 5.59 - 3.90
    assert gib(receipt, "context") == 3.88  # 11.88 - 8.00


def test_peak_beside_the_estimate() -> None:
    # 172.52 - 11.88 - 1.69 - 155.04 = 3.91: the estimate was taken off beside the peak
    assert gib(read(summary(11.88, 1.69, 155.04, 172.52)), "activations") == 1.69


def test_refusal_across_two_wraps() -> None:
    receipt = read(WRAPPED_REFUSAL)
    assert receipt.outcome == "refused"
    assert receipt.kv_needed_bytes == round(4.26 * GIB)
    assert receipt.est_max_model_len == 99_840
    assert receipt.max_model_len == 100_000
    assert gib(receipt, "kv_cache") == 4.25
    assert receipt.refusal is not None
    assert "4.26 GiB KV cache is needed" in receipt.refusal


def test_refusal_before_loading() -> None:
    receipt = read(NOT_FREE)
    assert receipt.outcome == "refused"
    assert receipt.refusal is not None
    assert "(31.44/47.38 GiB)" in receipt.refusal
    assert (receipt.card_total_bytes, receipt.budget_bytes) == (round(47.38 * GIB), round(45.01 * GIB))
    assert receipt.lines == ()


def test_refusal_without_blocks() -> None:
    assert read(NO_BLOCKS).outcome == "refused"


def test_cluster_worker_is_not_the_engine() -> None:
    receipt = read(CLUSTER + CLUSTER.splitlines()[2].replace("Error", "Available KV cache memory: 9.00 GiB"))
    assert [rank.name for rank in receipt.ranks] == ["RayWorkerWrapper 347"]
    assert receipt.kv_cache_tokens == 1_214_464


def test_both_counts_on_one_line() -> None:
    receipt = read(ONE_LINE)
    assert (receipt.kv_cache_tokens, receipt.max_concurrency_x, receipt.max_model_len) == (158_656, 4.84, 32_768)


def test_nested_settings() -> None:
    settings = read(NESTED).settings
    assert (settings.quantization, settings.stored_quantization) == ("auto_round", None)
    assert (settings.tp, settings.gpu_count, settings.max_num_seqs, settings.dtype) == (2, 2, 2, "float16")


@pytest.mark.parametrize(
    "dress",
    [
        pytest.param(lambda line: f"\x1b[1;36m(EngineCore_DP0 pid=7)\x1b[0;0m {line}", id="colours"),
        pytest.param(lambda line: f"2026-02-24T20:21:58.123456789Z stderr F {line}", id="kubernetes"),
        pytest.param(
            lambda line: f'{{"log":"{line}\\n","stream":"stderr","time":"2026-01-01T00:00:00Z"}}', id="docker"
        ),
        pytest.param(lambda line: f"Jan 01 00:00:00 host vllm[77]: {line}", id="journal"),
        pytest.param(lambda line: f"Capturing CUDA graphs: 100%|██████| 19/19 [00:00<00:00]{line}\r", id="progress"),
        pytest.param(lambda line: f"{line}\0\x00\ufffd\ufffd", id="binary"),
        pytest.param(lambda line: line.replace(" ", "   "), id="padding"),
    ],
)
def test_dresses_of_lines(dress: object) -> None:
    receipt = LogReader(RULES).read(dress(line) for line in V1_TOKENS.splitlines())  # type: ignore[operator]
    assert gib(receipt, "weights") == 14.99
    assert (receipt.kv_cache_tokens, receipt.max_concurrency_x) == (158_656, 4.84)


def test_every_width_of_paper() -> None:
    line = "INFO 04-24 16:33:13 [kv_cache_utils.py:634] GPU KV cache size: 158,656 tokens"
    for width in range(45, len(line)):
        pieces = [line[:width], line[width:]]
        assert LogReader(RULES).read(pieces).kv_cache_tokens == 158_656, width


def test_the_last_whole_start_counts() -> None:
    first, second = V1_CONFIG + V1_TOKENS, V1_CONFIG.replace("0.8.3", "0.8.4") + V1_TOKENS.replace("158,656", "1,600")
    receipt = read(first + second + V1_CONFIG)
    assert (receipt.engine_version, receipt.kv_cache_tokens) == ("0.8.4", 1600)
    assert receipt.notes == ("the log holds 3 starts; the last that came to an end is shown",)


def test_data_parallel_engines_are_one_start() -> None:
    # https://github.com/huggingface/trl/pull/3310 (0.8.3: EngineCore_1, EngineCore_7)
    lines = V1_CONFIG.splitlines()[:1] + V1_TOKENS.splitlines()
    engines = [f"(EngineCore_{rank} pid={rank}) {line}" for rank in (1, 7) for line in lines]
    receipt = LogReader(RULES).read(engines)
    assert receipt.notes == ()
    assert [rank.name for rank in receipt.ranks] == ["EngineCore_1", "EngineCore_7"]


def test_a_refusal_after_the_start_is_no_refusal() -> None:
    assert (
        read(GRAPHS + "ERROR torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB").outcome == "started"
    )


def test_card_from_a_missing_kernel_configuration() -> None:
    line = "Config file not found at /vllm/configs/E=128,N=384,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8.json"
    assert read(line).settings.gpu == "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "hello", "GPU KV cache size: many tokens", "\0" * 1000, "GiB " * 50, "Model loading took ٣ GiB"],
)
def test_what_says_nothing(text: str) -> None:
    receipt = read(text)
    assert receipt.lines == ()
    assert receipt.kv_cache_tokens is None
    assert receipt.outcome == "unknown"


@pytest.mark.parametrize("number", ["9" * 5000, "1.2.3", "..", "nan", "1e400", "9" * 50, ".", "-"])
def test_damaged_numbers_are_no_figures(number: str) -> None:
    lines = (
        f"INFO Model loading took {number} GiB and 3.2 seconds",
        f"INFO GPU KV cache size: {number} tokens",
        f"INFO Maximum concurrency for {number} tokens per request: {number}x",
        f"non-default args: {{'tensor_parallel_size': {number}, 'gpu_memory_utilization': {number}, 'model': 'm'}}",
        "INFO # GPU blocks: 10, # CPU blocks: 0",
    )
    receipt = read("\n".join(lines))
    assert (receipt.lines, receipt.kv_cache_tokens, receipt.max_concurrency_x) == ((), None, None)
    assert (receipt.settings.tp, receipt.settings.gpu_memory_utilization, receipt.num_blocks) == (None, None, 10)


def test_memory_does_not_grow() -> None:
    serving = (
        "INFO 01-01 00:00:00 [loggers.py:111] Engine 000: Avg prompt throughput: 1.0 tokens/s, GPU KV cache usage: 1%"
    )
    reader = LogReader(RULES)
    for line in chain(V1_TOKENS.splitlines(), repeat(serving, 1000)):
        reader.feed(line)
    tracemalloc.start()
    for line in repeat(serving, 5000):
        reader.feed(line)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 100_000  # the 5000 lines are 600,000 bytes
    assert reader.receipt().kv_cache_tokens == 158_656
