"""The start-up log of llama.cpp, in excerpts of public reports."""

from __future__ import annotations

import pytest

from tonnage.engines.llamacpp.log import RULES
from tonnage.memory.log_reader import LogReader
from tonnage.memory.receipt import Receipt

MIB = 2**20

# https://github.com/mozilla-ai/llamafile/pull/552 (2024: no word "model" before the buffer)
OLD = """\
  Device 0: NVIDIA GeForce RTX 4080, compute capability 8.9, VMM: yes
llm_load_tensors: ggml ctx size =    0.26 MiB
llm_load_tensors: offloaded 31/31 layers to GPU
llm_load_tensors:        CPU buffer size =   297.00 MiB
llm_load_tensors:      CUDA0 buffer size =  7317.71 MiB
llama_new_context_with_model: n_ctx      = 512
llama_new_context_with_model: n_batch    = 512
llama_kv_cache_init:      CUDA0 KV buffer size =   180.00 MiB
llama_new_context_with_model: KV self size  =  180.00 MiB, K (f16):   90.00 MiB, V (f16):   90.00 MiB
llama_new_context_with_model:  CUDA_Host  output buffer size =     0.19 MiB
llama_new_context_with_model:      CUDA0 compute buffer size =   105.00 MiB
"""
# https://github.com/ggml-org/llama.cpp/pull/6122 (two cards)
TWO_CARDS = """\
  Device 0: NVIDIA GeForce RTX 4070 Ti, compute capability 8.9, VMM: yes
  Device 1: NVIDIA GeForce RTX 3090 Ti, compute capability 8.6, VMM: yes
llm_load_tensors:        CPU buffer size =  1640.62 MiB
llm_load_tensors:      CUDA0 buffer size =  5434.38 MiB
llm_load_tensors:      CUDA1 buffer size = 13989.53 MiB
llama_new_context_with_model: n_ctx      = 4096
llama_kv_cache_init:      CUDA0 KV buffer size =  1536.00 MiB
llama_kv_cache_init:      CUDA1 KV buffer size =  3584.00 MiB
llama_new_context_with_model:      CUDA0 compute buffer size =   672.01 MiB
"""
# https://github.com/ggml-org/llama.cpp/issues/11337 (ROCm, quantised cache; the draft's last two lines are made up)
DRAFT = """\
llama_kv_cache_init: kv_size = 32768, offload = 1, type_k = 'q8_0', type_v = 'q8_0', n_layer = 64, can_shift = 1
llama_kv_cache_init:      ROCm0 KV buffer size =  4352.00 MiB
llama_new_context_with_model: KV self size  = 4352.00 MiB, K (q8_0): 2176.00 MiB, V (q8_0): 2176.00 MiB
llama_new_context_with_model:  ROCm_Host  output buffer size =     0.58 MiB
llama_new_context_with_model:      ROCm0 compute buffer size =   307.00 MiB
llama_new_context_with_model:  ROCm_Host compute buffer size =    74.01 MiB
srv    load_model: loading draft model '/models/Qwen2.5-Coder-0.5B-Instruct-IQ4_XS.gguf'
llama_load_model_from_file: using device ROCm0 (AMD Radeon RX 7900 XTX) - 1840 MiB free
llama_model_loader: loaded meta data with 38 key-value pairs and 290 tensors from /models/draft.gguf (version GGUF V3)
load_tensors:        ROCm0 model buffer size =   300.00 MiB
llama_kv_cache_init:      ROCm0 KV buffer size =   204.00 MiB
"""
# https://github.com/ggml-org/llama.cpp/pull/23792 (router with a prefix, recurrent states)
STATES = """\
[53871] 0.09.036.819 I llama_memory_recurrent:     Meta() RS buffer size =   124.69 MiB
[53871] 0.09.036.833 I llama_memory_recurrent: size =  299.25 MiB (     2 cells,  64 layers,  2 seqs  0 rs_seq), \
R (f32):   11.25 MiB, S (f32):  288.00 MiB
"""
# https://github.com/LostRuins/koboldcpp/issues/2030 (journal of the system in front)
JOURNAL = """\
Mar 12 07:01:08 host python[433748]: load_tensors: offloaded 44/49 layers to GPU
Mar 12 07:01:08 host python[433748]: load_tensors:          CPU model buffer size =   809.29 MiB
Mar 12 07:01:08 host python[433748]: load_tensors:        CUDA0 model buffer size = 31014.14 MiB
Mar 12 07:01:08 host python[433748]: load_tensors:        CUDA1 model buffer size = 43884.50 MiB
"""
# https://github.com/ggml-org/llama.cpp/pull/15860 (the table as it was introduced)
TABLE = """\
llama_print_memory_breakdown: memory breakdown:      total   free     self   model   context   compute    unaccounted
llama_print_memory_breakdown:   - CUDA0 (RTX 4090):  24080 = 9436 + (14193 = 13169 +      38 +     985) +         451
llama_print_memory_breakdown:   - CUDA1 (RTX 4090):  24080 = 9868 + (13756 = 13169 +      38 +     548) +         456
llama_print_memory_breakdown:   - CPU (EPYC 7742):  515628              72 =     0 +      57 +      15
"""
# https://github.com/ggml-org/llama.cpp/pull/22673 and issue 19437: tables of a trial, nothing is allocated
TRIALS = """\
common_memory_breakdown_print: |   - CUDA0 (RTX 2000 Ada Generation Laptop GPU) |  7807 = 7627 + ( 5658 =  2542 \
+    2622 +     493) +       -5478 |
llama_memory_breakdown_print: |   - CUDA1 (GTX 1080 Ti) | 11165 = 8702 + (10001 =  9814 +     134 +      51) \
+ 17592186036877 |
common_memory_breakdown_print: |   - Host               |                   4465 =   515 +       0 +    3950       |
"""
# https://github.com/ollama/ollama/issues/10114 and 10740 (newer names of the context)
CONTEXT = """\
load_tensors:        CUDA0 model buffer size =   577.22 MiB
load_tensors:   CPU_Mapped model buffer size =   520.30 MiB
llama_context: n_seq_max     = 4
llama_context: n_ctx         = 131072
llama_context: n_ctx_per_seq = 32768
llama_context: n_batch       = 512
llama_context:  CUDA_Host  output buffer size =     0.60 MiB
"""
# https://github.com/ggml-org/llama.cpp/issues/27680 (colours whose escape was lost)
COLOURS = """\
[34m0.00.612.797[0m [32mI [0mprint_info: general.name          = DeepSeek-V4-Flash-0731
[34m0.00.612.900[0m [32mI [0mload_tensors:        CUDA0 model buffer size =   577.22 MiB
"""
# https://github.com/ggml-org/llama.cpp/pull/11397 (cards of other machines)
REMOTE = "load_tensors: RPC[127.0.0.1:50053] model buffer size = 40960.00 MiB"


def read(text: str) -> Receipt:
    """The receipt of an excerpt."""
    return LogReader(RULES).read(text.splitlines())


def mib(receipt: Receipt, device: str | None = None) -> dict[str, float]:
    """Lines in MiB, of one device or of the receipt."""
    lines = next(rank.lines for rank in receipt.ranks if rank.name == device) if device else receipt.lines
    return {line.name: round(line.bytes / MIB, 2) for line in lines}


def test_one_card() -> None:
    receipt = read(OLD)
    assert mib(receipt) == {"weights": 7317.71, "activations": 105.0, "kv_cache": 180.0}
    assert mib(receipt, "CPU") == {"weights": 297.0}
    assert mib(receipt, "CUDA_Host") == {"activations": 0.19}
    assert receipt.settings.gpu == "NVIDIA GeForce RTX 4080"
    assert receipt.settings.gpu_count == 1
    assert receipt.settings.kv_cache_dtype == "f16"
    assert (receipt.kv_cache_tokens, receipt.max_model_len) == (512, 512)
    assert receipt.notes == ("the lines are those of CUDA0",)


def test_the_fullest_card_counts() -> None:
    receipt = read(TWO_CARDS)
    # CUDA0 5434.38 + 1536.00 + 672.01 = 7642.39; CUDA1 13989.53 + 3584.00 = 17573.53
    assert mib(receipt) == {"weights": 13989.53, "kv_cache": 3584.0}
    assert receipt.settings.gpu_count == 2


def test_draft_is_a_line_of_its_own() -> None:
    receipt = read(DRAFT)
    assert mib(receipt) == {"kv_cache": 4352.0, "activations": 307.0, "draft": 504.0}  # 300 + 204
    assert receipt.settings.kv_cache_dtype == "q8_0"
    assert receipt.settings.gpu == "AMD Radeon RX 7900 XTX"
    assert len(receipt.notes) == 1  # the draft's file begins no second start


def test_recurrent_states_belong_to_the_cache() -> None:
    receipt = read(STATES)
    assert mib(receipt, "Meta()") == {"kv_cache": 124.69}
    assert receipt.lines[0].trace == "KV buffers and recurrent states"


def test_journal_in_front() -> None:
    assert mib(read(JOURNAL)) == {"weights": 43884.5}


def test_breakdown_table() -> None:
    receipt = read(TABLE)
    assert receipt.card_total_bytes == 24_080 * MIB
    # 24080 = 9436 + (13169 + 38 + 985) + 451, to the rounding of whole MiB
    assert mib(receipt) == {"weights": 13169.0, "activations": 985.0, "context": 451.0, "kv_cache": 38.0}
    assert mib(receipt, "CUDA1")["context"] == 456.0


def test_buffers_go_before_the_table() -> None:
    buffer = "load_tensors:        CUDA0 model buffer size = 13168.77 MiB\n"
    assert mib(read(buffer + TABLE))["weights"] == 13168.77


def test_tables_of_a_trial_are_no_allocation() -> None:
    receipt = read(TRIALS)
    assert receipt.lines == ()
    assert [rank.card_total_bytes for rank in receipt.ranks] == [7807 * MIB, 11_165 * MIB]


def test_context_by_sequence() -> None:
    receipt = read(CONTEXT)
    assert receipt.kv_cache_tokens == 131_072
    assert receipt.max_model_len == 32_768
    assert (receipt.settings.max_num_seqs, receipt.settings.max_num_batched_tokens) == (4, 512)
    assert mib(receipt) == {"weights": 577.22}


def test_colours_without_escape() -> None:
    receipt = read(COLOURS)
    assert mib(receipt) == {"weights": 577.22}
    assert receipt.settings.model == "DeepSeek-V4-Flash-0731"


def test_remote_card() -> None:
    assert mib(read(REMOTE), "RPC[127.0.0.1:50053]") == {"weights": 40960.0}


def test_scratch_is_replaced_and_pools_add_up() -> None:
    # made-up figures: sliding layers have a pool of their own, and the graph is reserved again when something changed
    lines = """\
llama_kv_cache:      CUDA0 KV buffer size =   512.00 MiB
llama_kv_cache:      CUDA0 KV buffer size =    12.00 MiB
sched_reserve:      CUDA0 compute buffer size =   400.00 MiB
sched_reserve:      CUDA0 compute buffer size =   332.00 MiB
"""
    assert mib(read(lines)) == {"activations": 332.0, "kv_cache": 524.0}


def test_last_model_of_a_process() -> None:
    opened = "llama_model_loader: loaded meta data with 38 key-value pairs and 290 tensors from {} (version GGUF V3)\n"
    log = opened.format("/m/a.gguf") + OLD + opened.format("/m/b c.gguf") + OLD.replace("7317.71", "7.00")
    receipt = read(log)
    assert receipt.settings.model == "/m/b c.gguf"
    assert mib(receipt)["weights"] == 7.0
    assert receipt.notes[0] == "the log holds 2 starts; the last that came to an end is shown"
    assert receipt.settings.gpu == "NVIDIA GeForce RTX 4080"


@pytest.mark.parametrize(
    "line",
    [
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1401.75 MiB: cudaMalloc failed: out of memory",
        "ggml_gallocr_reserve_n_impl: failed to allocate CUDA0 buffer of size 1469841408",
        "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
    ],
)
def test_refusals(line: str) -> None:
    # https://github.com/ggml-org/llama.cpp/issues/19437 and the messages of its allocator
    receipt = read(OLD + line)
    assert receipt.outcome == "refused"
    assert receipt.refusal == line


def test_started() -> None:
    assert (
        read(OLD + "main: server is listening on http://127.0.0.1:8080 - starting the main loop").outcome == "started"
    )
    assert read(OLD).outcome == "unknown"


@pytest.mark.parametrize("text", ["", "buffer size = 1 MiB", "llama_", "\0buffer size", "= + ( = )+"])
def test_what_says_nothing(text: str) -> None:
    receipt = read(text)
    assert receipt.lines == ()
    assert receipt.ranks == ()
