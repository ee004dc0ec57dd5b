"""What an engine's rules must give, and that every engine gives it."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.table import NAMES, make_engine
from tonnage.memory.engine import Engine, Limits, Pool
from tonnage.memory.serving import Serving

MakeCard = Callable[..., Accelerator]


def test_limits_nobody_asked_for_are_open() -> None:
    limits = Limits()
    assert (limits.max_model_len, limits.max_num_seqs, limits.max_num_batched_tokens) == (None, None, None)
    assert (limits.fraction, limits.kv_dtype, limits.kv_bytes, limits.concurrency) == (None, None, None, None)
    assert (limits.eager, limits.offload_bytes) == (False, 0)


def test_a_pool_needs_neither_trace_nor_note() -> None:
    pool = Pool(1024, 32, 2.0, 512, 64, 16, 0, 16, 4, fits=True)
    assert (pool.trace, pool.note) == ("", None)


@pytest.mark.parametrize("name", NAMES)
def test_engines_answer_every_question(name: str, make_card: MakeCard) -> None:
    if name != "vllm":
        pytest.importorskip(f"tonnage.engines.{name}.engine")
    engine = make_engine(name, None, make_card())
    for asked, rule in vars(Engine).items():
        if asked.startswith("_"):
            continue
        answer = getattr(type(engine), asked, getattr(engine, asked, None))
        assert answer is not None, asked
        if callable(rule):
            assert list(inspect.signature(answer).parameters) == list(inspect.signature(rule).parameters), asked


def test_what_is_served_is_decided_and_asked() -> None:
    asked = Limits(max_model_len=9, block_size=64, eager=True, kv_bytes=5, offload_bytes=6, concurrency=7, num_spec=8)
    decided = Serving(1024, 16, 2048, 0.9, "fp8", 64, True, 5, 6, 7)
    assert asked.serving(1024, 16, 2048, 0.9, "fp8") == decided
