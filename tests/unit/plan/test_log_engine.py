"""Which engine wrote a log."""

from __future__ import annotations

import pytest

from tonnage.errors import UnreadableError
from tonnage.plan.log_engine import read_log

# https://github.com/vllm-project/vllm/issues/21348 shows both on the same cards
VLLM = "Available KV cache memory: 8.11 GiB\nGPU KV cache size: 178,880 tokens\n"
SGLANG = "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB\n"
# https://github.com/ggml-org/llama.cpp/pull/6122
LLAMA = "llm_load_tensors:      CUDA0 buffer size =  5434.38 MiB\n"
NOISE = "INFO: Started\nGPU 0 is here, 5 GB, version 1, engine build 12345 (abc), device\n\0\ufffd\n" * 50


@pytest.mark.parametrize(("log", "engine"), [(VLLM, "vllm"), (SGLANG, "sglang"), (LLAMA, "llamacpp")])
def test_engines(log: str, engine: str) -> None:
    assert read_log(log).engine == engine
    assert read_log(NOISE + log + NOISE).engine == engine
    assert read_log((NOISE + log).splitlines()).engine == engine
    assert read_log(line for line in log.splitlines()).engine == engine


def test_refusals_alone() -> None:
    assert read_log("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate").refusal is not None
    assert read_log("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.").engine == "sglang"


@pytest.mark.parametrize("log", ["", "hello\n" * 1000, "{}", NOISE])
def test_other_texts(log: str) -> None:
    with pytest.raises(UnreadableError, match="no line with a memory figure"):
        read_log(log)
