"""SGLang's start-up log, in excerpts of public reports."""

from __future__ import annotations

import pytest

from tonnage.engines.sglang.log import RULES
from tonnage.memory.log_reader import LogReader
from tonnage.memory.receipt import Receipt

GIB = 2**30

# https://github.com/ajith-sirra-amd/Issues/blob/HEAD/GLM-5-FP8-MI355X-SGLANG-ERROR.md (0.5.8, two of eight ranks)
EIGHT_RANKS = """\
[2026-02-26 05:20:19 TP0] Init torch distributed ends. elapsed=13.00 s, mem usage=3.81 GB
[2026-02-26 05:20:19 TP7] Init torch distributed ends. elapsed=13.46 s, mem usage=3.69 GB
[2026-02-26 05:33:19 TP0] Load weight end. elapsed=778.18 s, type=GlmMoeDsaForCausalLM, dtype=torch.bfloat16, \
avail mem=193.92 GB, mem usage=89.58 GB.
[2026-02-26 05:35:08 TP7] Load weight end. elapsed=887.93 s, type=GlmMoeDsaForCausalLM, dtype=torch.bfloat16, \
avail mem=194.04 GB, mem usage=89.58 GB.
[2026-02-26 05:35:08 TP0] Using KV cache dtype: torch.float8_e4m3fn
[2026-02-26 05:35:08 TP7] KV Cache is allocated. #tokens: 3262823, KV size: 186.77 GB
[2026-02-26 05:35:08 TP0] KV Cache is allocated. #tokens: 3262823, KV size: 186.77 GB
[2026-02-26 05:35:08 TP7] Memory pool end. avail mem=4.02 GB
[2026-02-26 05:35:08 TP0] Memory pool end. avail mem=3.90 GB
[2026-02-26 05:35:09 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=3.67 GB
"""
# https://github.com/sgl-project/sglang/pull/4826 (0.4.4)
FIRST_FORM = """\
[2025-03-27 21:33:30 TP0] Load weight end. type=Gemma3ForConditionalGeneration, dtype=torch.bfloat16, \
avail mem=131.08 GB, mem usage=8.13 GB.
[2025-03-27 21:33:31 TP0] KV Cache is allocated. #tokens: 834615, K size: 54.12 GB, V size: 54.12 GB
[2025-03-27 21:33:31 TP0] Memory pool end. avail mem=14.61 GB
"""
# https://github.com/sgl-project/sglang/pull/12978 (0.5.5; the last line is made up after the first)
TWO_CAPTURES = """\
[2025-11-10 19:59:09 TP1] Capture cuda graph end. Time elapsed: 11.35 s. mem usage=1.04 GB. avail mem=11.22 GB.
[2025-11-10 19:59:09 TP0] Capture cuda graph end. Time elapsed: 11.39 s. mem usage=1.00 GB. avail mem=11.17 GB.
[2025-11-10 20:00:00 TP0] Capture piecewise CUDA graph end. Time elapsed: 99.00 s. mem usage=2.10 GB. avail mem=9.07 GB.
"""
# https://github.com/sgl-project/sglang/pull/11716 (0.5.3; the end is made up after versions that printed no usage)
WITHOUT_USAGE = """\
[2025-10-16 09:06:22 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=11.82 GB
[2025-10-16 09:07:22 TP0] Capture cuda graph end. Time elapsed: 60.00 s. avail mem=9.32 GB.
"""
# https://github.com/SemiAnalysisAI/InferenceX/issues/2128 (0.5.14 and later: the form of the weights is printed)
REFUSED = """\
Load weight end. quant=fp8, fmt=e4m3, avail mem=12.25 GB, mem usage=125.65 GB.
ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.88.
"""
# https://github.com/sgl-project/sglang/issues/4330 (0.4.3)
REFUSED_BEFORE = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."
# https://github.com/sgl-project/sglang/issues/29575
LAST_LINE = """\
[2026-06-28 15:16:45] max_total_num_tokens=2086558, chunked_prefill_size=8192, max_prefill_tokens=16384, \
max_running_requests=33, context_len=256000, available_gpu_mem=17.22 GB
"""
# https://github.com/kvcache-ai/ktransformers/issues/1870 (hybrid model, experts on the host)
HYBRID = """\
[2026-02-27 17:10:27 TP0] Load weight end. elapsed=653.47 s, type=Qwen3_5MoeForConditionalGeneration, \
dtype=torch.bfloat16, avail mem=19.08 GB, mem usage=3.76 GB.
[2026-02-27 17:10:28 TP0] Using KV cache dtype: torch.bfloat16
[2026-02-27 17:10:28 TP0] Mamba Cache is allocated. max_mamba_cache_size: 82, conv_state size: 0.13GB, \
ssm_state size: 7.29GB
[2026-02-27 17:10:28 TP0] KV Cache is allocated. #tokens: 580364, K size: 4.15 GB, V size: 4.15 GB
[2026-02-27 17:10:28 TP0] Memory pool end. avail mem=4.02 GB
[2026-02-27 17:10:29 TP0] max_total_num_tokens=580364, chunked_prefill_size=2048, max_prefill_tokens=16384, \
max_running_requests=1, context_len=8192, available_gpu_mem=3.63 GB
"""
# Lines as 0.5.15 words them, with round figures: target and draft are loaded before the pools
# (https://github.com/sgl-project/sglang/pull/23862), and a loader on unified memory may give back more than it takes.
DRAFT = """\
[2026-08-28 21:00:00] server_args=ServerArgs(model_path='some/model-NVFP4', revision=None, tp_size=1, \
mem_fraction_static=0.78, kv_cache_dtype='auto', context_length=None, quantization='modelopt_fp4')
[2026-08-28 21:00:01] Load weight begin. avail mem=110.00 GB
[2026-08-28 21:00:02] Load weight end. elapsed=700.00 s, type=Target, quant=modelopt_fp4, quant_algo=NVFP4, \
avail mem=30.00 GB, mem usage=80.00 GB.
[2026-08-28 21:00:03] Load weight begin. avail mem=30.00 GB
[2026-08-28 21:00:04] Load weight end. elapsed=90.00 s, type=Draft, quant=modelopt_fp4, quant_algo=NVFP4, \
avail mem=31.50 GB, mem usage=-1.50 GB.
[2026-08-28 21:00:05] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 160000, K size: 2.00 GB, V size: 2.00 GB
[2026-08-28 21:00:06] Capture target verify CUDA graph end. elapsed=1.00 s, mem usage=0.50 GB, avail mem=27.00 GB.
"""
# https://github.com/sgl-project/sglang/pull/15464 (sliding-window layers, keys wider than values)
SLIDING = """\
[2025-12-19 07:42:57 TP2] KV Cache is allocated. #tokens: 1496958, K size: 41.76 GB, V size: 27.84 GB
[2025-12-19 07:42:57 TP2] KV Cache is allocated. #tokens: 1496958, K size: 4.82 GB, V size: 3.21 GB
[2025-12-19 07:42:57 TP2] SWAKVPool mem usage: 77.63 GB, swa size: 1496958, full size: 1496958
[2025-12-19 07:42:57 TP2] Memory pool end. avail mem=22.56 GB
"""
# https://github.com/sgl-project/sglang/issues/7691 (DP attention, 0.4.8)
DP_ATTENTION = """\
[2025-07-02 07:41:58 DP0 TP0] Load weight end. type=DeepseekV3ForCausalLM, dtype=torch.bfloat16, avail mem=21.73 GB, \
mem usage=166.59 GB.
"""


def read(text: str) -> Receipt:
    """The receipt of an excerpt."""
    return LogReader(RULES).read(text.splitlines())


def gib(receipt: Receipt, name: str) -> float | None:
    """A line in GiB with the decimals a log has."""
    size = {line.name: line.bytes for line in receipt.lines}.get(name)  # type: ignore[call-overload]
    return None if size is None else round(size / GIB, 2)


def test_eight_ranks() -> None:
    receipt = read(EIGHT_RANKS)
    assert [rank.name for rank in receipt.ranks] == ["TP0", "TP7"]
    assert gib(receipt, "weights") == 89.58
    assert gib(receipt, "communication") == 3.81  # the larger
    assert gib(receipt, "kv_cache") == 186.77
    # 193.92 - 3.90 - 186.77 = 3.25 on TP0 and 194.04 - 4.02 - 186.77 = 3.25 on TP7
    assert gib(receipt, "other") == 3.25
    assert receipt.kv_cache_tokens == 3_262_823
    assert receipt.settings.kv_cache_dtype == "fp8_e4m3"


def test_keys_and_values_add_up() -> None:
    receipt = read(FIRST_FORM)
    assert gib(receipt, "kv_cache") == 108.24  # 2 x 54.12
    assert gib(receipt, "other") == 8.23  # 131.08 - 14.61 - 108.24
    assert receipt.settings.dtype == "bfloat16"


def test_phases_of_capture_add_up() -> None:
    receipt = read(TWO_CAPTURES)
    assert gib(receipt, "cuda_graphs") == 3.1  # 1.00 + 2.10 on TP0, more than 1.04 on TP1


def test_capture_without_usage_is_a_difference() -> None:
    assert gib(read(WITHOUT_USAGE), "cuda_graphs") == 2.5  # 11.82 - 9.32


def test_refusal() -> None:
    receipt = read(REFUSED)
    assert receipt.outcome == "refused"
    assert receipt.refusal is not None
    assert receipt.refusal.startswith("ValueError: Loaded weights leave no GPU memory")
    assert gib(receipt, "weights") == 125.65
    assert receipt.settings.stored_quantization == "fp8"


def test_older_refusal() -> None:
    assert read(REFUSED_BEFORE).outcome == "refused"


def test_last_line() -> None:
    receipt = read(LAST_LINE)
    assert receipt.kv_cache_tokens == 2_086_558
    assert receipt.max_model_len == 256_000
    assert receipt.settings.max_num_seqs == 33
    assert receipt.settings.max_num_batched_tokens == 8192
    assert receipt.max_concurrency_x is None  # SGLang prints none
    assert receipt.lines == ()


def test_states_belong_to_the_cache() -> None:
    receipt = read(HYBRID)
    assert gib(receipt, "kv_cache") == 15.72  # 4.15 + 4.15 + 0.13 + 7.29
    assert gib(receipt, "other") is None  # 19.08 - 4.02 - 15.72 is below nothing
    assert (receipt.kv_cache_tokens, receipt.max_model_len) == (580_364, 8192)
    assert receipt.settings.kv_cache_dtype == "auto"


def test_prompts_that_are_not_cut() -> None:
    receipt = read(LAST_LINE.replace("=8192,", "=-1,") + "The server is fired up and ready to roll!")
    assert receipt.settings.max_num_batched_tokens is None
    assert receipt.outcome == "started"


def test_draft_is_a_second_load() -> None:
    receipt = read(DRAFT)
    assert gib(receipt, "weights") == 80.0
    assert gib(receipt, "draft") == 0.0  # the loader gave more back than the draft took
    assert gib(receipt, "cuda_graphs") == 0.5
    assert receipt.settings.model == "some/model-NVFP4"
    assert receipt.settings.mem_fraction_static == 0.78
    assert receipt.settings.gpu_count == 1
    assert receipt.settings.max_model_len is None
    assert receipt.settings.kv_cache_dtype == "auto"  # a bfloat16 pool


def test_pool_after_the_target_is_the_drafts() -> None:
    # https://github.com/sgl-project/sglang/pull/4826: the target's lines; those of the draft are made up
    draft = """\
[2025-03-27 21:33:40 TP0] Load weight begin. avail mem=14.00 GB
[2025-03-27 21:33:50 TP0] Load weight end. type=LlamaForCausalLMEagle, dtype=torch.float16, avail mem=12.50 GB
[2025-03-27 21:33:51 TP0] KV Cache is allocated. #tokens: 834615, K size: 0.80 GB, V size: 0.80 GB
[2025-03-27 21:33:51 TP0] Memory pool end. avail mem=10.90 GB
"""
    receipt = read(FIRST_FORM + draft)
    assert gib(receipt, "draft") == 3.1  # (14.00 - 12.50) + 2 x 0.80
    assert gib(receipt, "kv_cache") == 108.24
    assert gib(receipt, "other") == 8.23  # the target's free memory counts, not the draft's


def test_sliding_pools_count_once() -> None:
    receipt = read(SLIDING)
    assert gib(receipt, "kv_cache") == 77.63  # 41.76 + 27.84 + 4.82 + 3.21, and what the summary says
    without_summary = "\n".join(line for line in SLIDING.splitlines() if "SWAKVPool" not in line)
    assert gib(read(without_summary), "kv_cache") == 77.63


def test_ranks_of_dp_attention() -> None:
    receipt = read(DP_ATTENTION + DP_ATTENTION.replace("DP0 TP0", "DP7 TP7 EP7").replace("166.59", "166.60"))
    assert [rank.name for rank in receipt.ranks] == ["DP0 TP0", "DP7 TP7 EP7"]
    assert gib(receipt, "weights") == 166.6


@pytest.mark.parametrize(
    ("arguments", "cards"),
    [
        ("tp_size=8, dp_size=8, enable_dp_attention=True", 8),
        ("tp_size=4, dp_size=2, enable_dp_attention=False", 8),
        ("tp_size=4, pp_size=2, dp_size=1", 8),
        ("pp_size=2", None),
    ],
)
def test_cards_of_a_layout(arguments: str, cards: int | None) -> None:
    # https://github.com/sgl-project/sglang/pull/13023 shows the list with its 200 other settings
    text = f"[2026-01-01 00:00:00] server_args=ServerArgs(model_path='m', {arguments}, page_size=1)"
    receipt = read(text)
    assert receipt.settings.gpu_count == cards
    assert receipt.block_size == 1


def test_arguments_across_a_wrap() -> None:
    text = "[2026-01-01 00:00:00] server_args=ServerArgs(model_path='org/name', tp_si\nze=8, mem_fraction_sta\n"
    text += "tic=0.88, ep_size=8)"
    settings = read(text).settings
    assert (settings.model, settings.tp, settings.mem_fraction_static, settings.ep) == ("org/name", 8, 0.88, True)


def test_the_last_whole_start_counts() -> None:
    receipt = read(DRAFT + LAST_LINE + DRAFT.splitlines()[0] + "\n")
    assert receipt.kv_cache_tokens == 2_086_558
    both = read(DRAFT + LAST_LINE + DRAFT + LAST_LINE.replace("2086558", "77"))
    assert both.kv_cache_tokens == 77
    assert both.notes == ("the log holds 2 starts; the last that came to an end is shown",)


@pytest.mark.parametrize("text", ["", "KV Cache is allocated.", "Load weight end.", "GB", "\0" * 99])
def test_what_says_nothing(text: str) -> None:
    receipt = read(text)
    assert receipt.lines == ()
    assert receipt.outcome == "unknown"
