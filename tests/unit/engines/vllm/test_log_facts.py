"""Who speaks in a line of vLLM's log."""

from __future__ import annotations

import pytest

from tonnage.engines.vllm.log_facts import DIALECT, speaker_of
from tonnage.memory.log_scan import compiled, squeeze


@pytest.mark.parametrize(
    ("line", "speaker"),
    [
        ("INFO 01-01 00:00:00 [gpu_worker.py:1] text", ""),
        ("(Worker_TP3 pid=11) text", "Worker_TP3"),
        ("(Worker_DP0_TP0_EP0 pid=1141816) text", "Worker_DP0_TP0_EP0"),
        ("(Worker_PP0 pid=3258192) text", "Worker_PP0"),
        ("(VllmWorker rank=3 pid=2445156) text", "rank 3"),
        ("(VllmWorkerProcess pid=507) text", "VllmWorkerProcess 507"),
        ("(Worker pid=352572) text", "Worker 352572"),
        ("(EngineCore_DP1 pid=240) text", "EngineCore_DP1"),
        ("(EngineCore pid=240) text", "EngineCore"),
        ("(APIServer pid=1) text", "APIServer"),
        ("(ApiServer_2 pid=1) text", "ApiServer_2"),
        ("(EngineCore_DP0 pid=749) (RayWorkerWrapper pid=347, ip=172.16.17.12) text", "RayWorkerWrapper 347"),
        ("vllm-1  | (EngineCore_0 pid=7) [Stage-0] text", "EngineCore_0"),
    ],
)
def test_speakers(line: str, speaker: str) -> None:
    # the forms of https://github.com/vllm-project/vllm/issues/ 28228, 17939, 25848, 31903, 32105 and 23192
    assert speaker_of(line) == speaker


@pytest.mark.parametrize("fact", DIALECT.facts, ids=lambda fact: f"{fact.name}-{fact.phrase}")
def test_every_phrase_is_one_that_a_squeezed_line_can_have(fact: object) -> None:
    phrase, pattern = fact.phrase, fact.pattern  # type: ignore[attr-defined]
    assert fact.is_spaced or squeeze(phrase) == phrase  # type: ignore[attr-defined]
    assert compiled(pattern).search("") is None


@pytest.mark.parametrize(
    ("line", "name", "first"),
    [
        ("(x) Loading model weights took 13.95 GB", "weights", "13.95"),
        ("Model loading took 14.26 GiB memory and 17.888750 seconds", "weights", "14.26"),
        ("Graph capturing finished in 85 secs, took 3.26 GiB", "graphs", "3.26"),
        ("Setting attention block size to 544 tokens to ensure that", "block_size", "544"),
        ("Chunked prefill is enabled with max_num_batched_tokens=8192.", "batched_tokens", "8192"),
        ("Explicitly set (1.0/31.28) GiB for KV cache on node 0.", "kv", "1.0"),
        ("CPU KV cache size: 23,296 tokens", "tokens", "23,296"),
        ("# cpu blocks: 5218, # CPU blocks: 0", "blocks", "5218"),
        ("No available memory for the cache blocks. Try increasing", "refused", None),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", "refused", None),
        ("vLLM API server version 0.8.1", "server", "0.8.1"),
        (
            "vLLM Version                 : 0.18.2rc1.dev73+gdb7a17ecc (git sha)",
            "version",
            "0.18.2rc1.dev73+gdb7a17ecc",
        ),
        ("GPU 0-7: NVIDIA B200 (x8)", "card", "B200"),
        ("Maximum concurrency for 8,192 tokens per request: 4.61x", "length", "8,192"),
    ],
)
def test_wordings(line: str, name: str, first: str | None) -> None:
    text = {True: line, False: squeeze(line)}
    for fact in DIALECT.facts:
        if fact.name == name and (match := compiled(fact.pattern).search(text[fact.is_spaced])):
            assert (match.groups() or (None,))[0] == first
            assert any(hint in line for hint in DIALECT.hints)
            return
    raise AssertionError(line)
