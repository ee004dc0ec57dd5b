"""What must hold for every model, card and layout."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tonnage.errors import TonnageError
from tonnage.plan.fit import answer_question
from tonnage.plan.question import Question

Ask = Callable[..., dict[str, Any]]

DENSE = ("Qwen/Qwen3-8B", "meta-llama/Meta-Llama-3.1-70B", "google/gemma-3-27b-it", "Qwen/Qwen2.5-72B")
EXPERTS = ("Qwen/Qwen3-235B-A22B-FP8", "deepseek-ai/DeepSeek-V3", "openai/gpt-oss-120b", "moonshotai/Kimi-K3")
HYBRID = ("Qwen/Qwen3-Next-80B-A3B-Thinking", "ai21labs/Jamba-v0.1", "nvidia/Nemotron-H-56B-Base-8K")
SAMPLE = (*DENSE, *EXPERTS, *HYBRID)
CARDS = ("H100", "MI300X", "MI355X", "B200", "RTX 4090")
SEED = 20261130


@pytest.mark.parametrize("model", SAMPLE)
def test_more_cards_never_hold_less(ask: Ask, model: str) -> None:
    for kind in ("tp", "pp"):
        answers = [ask(model, f"{n}xMI355X", max_model_len=8192, **{kind: n}) for n in (1, 2, 4, 8)]
        held = [(_pool(answer), answer["max_concurrency_x"]) for answer in answers if answer.get("ranks")]
        for fewer, more in pairwise(held):
            assert more[0] >= fewer[0], kind
            assert more[1] >= 0.999 * fewer[1], kind


def _pool(answer: dict[str, Any]) -> int:
    return sum(_bytes(rank, "kv_cache") for rank in answer["ranks"])


def _bytes(rank: dict[str, Any], name: str) -> int:
    return sum(line["bytes"] for line in rank["lines"] if line["name"] == name)


@pytest.mark.parametrize("model", SAMPLE)
def test_a_longer_request_never_needs_less(ask: Ask, model: str) -> None:
    lengths = (1024, 4096, 4097, 8192, 16384, 32768)
    needed = [ask(model, "8xMI355X", tp=8, max_model_len=length)["kv_needed_bytes"] for length in lengths]
    assert needed == sorted(needed)
    assert needed[0] > 0


@pytest.mark.parametrize("model", SAMPLE)
@pytest.mark.parametrize("layout", [{"tp": 1}, {"tp": 4}, {"tp": 8}, {"tp": 4, "pp": 2}, {"tp": 1, "pp": 4}])
def test_ranks_hold_at_least_the_model(ask: Ask, model: str, layout: dict[str, int]) -> None:
    # On the host, where no kernel pads: on accelerators a shard may be padded less than the whole.
    cards = layout["tp"] * layout.get("pp", 1)
    answer = ask(model, f"{cards}xCPU", max_model_len=8192, **layout)
    whole = ask(model, "1xCPU", tp=1, max_model_len=8192)["weights_bytes_per_rank"]
    assert sum(_bytes(rank, "weights") for rank in answer["ranks"]) >= whole


@pytest.mark.parametrize("model", SAMPLE)
@pytest.mark.parametrize("card", CARDS)
def test_lines_add_up_to_the_byte(ask: Ask, model: str, card: str) -> None:
    for rank in ask(model, f"8x{card}", tp=8, max_model_len=8192)["ranks"]:
        assert sum(line["bytes"] for line in rank["lines"]) + rank["free_bytes"] == rank["card_bytes"]
        for line in rank["lines"]:
            assert isinstance(line["bytes"], int)
            assert 0 <= line["low"] <= line["bytes"] <= line["high"], line["name"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    model=st.sampled_from(SAMPLE),
    card=st.sampled_from(CARDS),
    tp=st.sampled_from((1, 2, 4, 8)),
    length=st.integers(1, 40_000),
    pool=st.integers(1, 1 << 38),
)
def test_tokens_of_a_pool_fit_in_it(model: str, card: str, tp: int, length: int, pool: int) -> None:
    # Graphs of recurrent models ask for a block for every sequence of a step: another reason not to fit.
    limits = {"max_model_len": length, "kv_cache_memory_bytes": pool, "enforce_eager": True}
    record = {"model": model, "gpu": f"{tp}x{card}", "tp": tp} | limits
    answer = answer_question(Question.from_record(record), with_remedies=False)
    if answer["verdict"] in ("layout-invalid", "unsupported"):
        return
    assert answer["fits"] == (answer["max_context"] >= length)
    larger = answer_question(Question.from_record({**record, "kv_cache_memory_bytes": 2 * pool}), with_remedies=False)
    # One block stays empty, so a pool of exactly one request does not start; twice that does.
    assert answer["max_concurrency_x"] >= 1 if answer["fits"] else answer["max_concurrency_x"] < 1 or larger["fits"]
    assert larger["kv_cache_tokens"] >= answer["kv_cache_tokens"]


# Changes to a good question, most of them nonsense.
ODD: tuple[Any, ...] = (
    -1, 0, 1, 3, 7, 1.5, 10**9, 10**30, float("nan"), float("inf"), True, False, "", "x", "fp8", "8", [], {}, ["a"],
    None, "☃", "\x00", "../../etc/passwd",
)  # fmt: skip
FIELDS = (
    "model", "gpu", "gpu_count", "nodes", "engine", "engine_version", "tp", "pp", "dp", "ep", "dcp", "dp_attention",
    "quantization", "kv_cache_dtype", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_size",
    "gpu_memory_utilization", "mem_fraction_static", "enforce_eager", "cpu_offload_gb", "kv_cache_memory_bytes",
    "concurrency", "trust", "nonsense",
)  # fmt: skip


def _mutants(count: int) -> list[dict[str, Any]]:
    chance = random.Random(SEED)
    good = {"model": "Qwen/Qwen3-30B-A3B", "gpu": "H100", "gpu_count": 4, "tp": 4}
    return [
        good | {chance.choice(FIELDS): chance.choice(ODD) for _ in range(chance.randint(1, 3))} for _ in range(count)
    ]


def test_only_our_own_errors_come_back() -> None:
    answers, errors = [], []
    for record in _mutants(1500):
        try:
            answers.append(answer_question(Question.from_record(record), with_remedies=False))
        except TonnageError as error:
            errors.append(error.line)
    assert min(len(answers), len(errors)) > 50
    assert [answer for answer in answers if not isinstance(answer["fits"], bool) or not answer["reason"]] == []
    assert [line for line in errors if line.count(": ") < 2 or "\n" in line] == []
