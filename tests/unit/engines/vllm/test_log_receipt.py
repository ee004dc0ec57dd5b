"""The receipt of one start of vLLM."""

from __future__ import annotations

import pytest

from tonnage.engines.vllm.log_receipt import build_receipt
from tonnage.memory.log_start import Start


def start_of(**numbers: float) -> Start:
    """A start that printed numbers."""
    start = Start()
    for name, value in numbers.items():
        start.count(name, value)
    return start


@pytest.mark.parametrize(
    ("blocks", "length", "concurrency", "size"),
    [
        (1952, 20_000, 1.56, 16),  # 1952 x 16 / 20000 = 1.5616
        (127_626, 2048, 997.08, 16),  # https://github.com/vllm-project/vllm/pull/13596
        (464_716, 131_072, 56.73, 16),  # https://github.com/mlcommons/inference/issues/2267
        (3852, 40_000, 1.54, 16),  # https://github.com/vllm-project/vllm/issues/11251
        (1381, 2048, 99.0, None),  # no size fits: states of a hybrid model
    ],
)
def test_block_size(blocks: int, length: int, concurrency: float, size: int | None) -> None:
    receipt = build_receipt(start_of(blocks=blocks, length=length, concurrency=concurrency), ())
    assert receipt.block_size == size
    assert receipt.kv_cache_tokens == (blocks * size if size else None)


def test_stated_block_size() -> None:
    start = start_of(blocks=10)
    start.say("arguments.block_size", "64")
    assert build_receipt(start, ()).kv_cache_tokens == 640
    assert build_receipt(start_of(blocks=10, block_size=1568), ()).kv_cache_tokens == 15_680


def test_version_of_a_build_without_tags() -> None:
    # https://github.com/livepeer/ai-runner/pull/230 calls itself (vdev)
    start = Start()
    start.say("version", "dev")
    assert build_receipt(start, ()).engine_version is None
    start.say("server", "0.6.5")
    assert build_receipt(start, ()).engine_version == "0.6.5"


def test_a_failure_without_reason() -> None:
    start = Start()
    start.say("failed", "EngineCore failed to start.")
    assert (build_receipt(start, ()).outcome, build_receipt(start, ()).refusal) == (
        "refused",
        "EngineCore failed to start.",
    )
    start.is_started = True
    assert build_receipt(start, ("note",)).outcome == "started"
    assert build_receipt(start, ("note",)).notes == ("note",)
