"""Committed rows as questions to the planner, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tonnage.errors import TonnageError
from tonnage.plan.fit import answer_question
from tonnage.plan.question import Question
from tonnage.units import GIB, MIB
from validation.rows import Row, load_rows
from validation.sample import Number, Sample

Answer = dict[str, Any]


def take_samples() -> list[Sample]:
    """Predictions for all committed rows."""
    found: list[Sample] = []
    for kind, sampler in (("vllm", sample_vllm), ("sglang", sample_sglang), ("llamacpp", sample_llamacpp)):
        for row in load_rows(kind):
            found += sampler(row)
    for row in load_rows("oracle"):
        found += sample_oracle(row)
    return found


def ask(question: dict[str, Any], **changes: Any) -> Answer:
    """The planner's answer; an error as `{"error": line}`."""
    try:
        return answer_question(Question.from_record(question | changes), with_remedies=False)
    except TonnageError as error:
        return {"error": error.line}


def sample_vllm(row: Row) -> Iterator[Sample]:
    """Everything that one start-up log of vLLM can be compared with."""
    answer, seen, asked = ask(row.question), row.measured, row.question
    if "weights_gib" in seen:
        yield _sample("vllm_weights", row, seen["weights_gib"] * GIB, answer, "weights_bytes_per_rank")
    if "pool_gib" in seen and asked.get("gpu_memory_utilization") and asked.get("engine_version"):
        yield _sample("vllm_pool", row, seen["pool_gib"] * GIB, answer, "kv_cache_bytes_per_rank")
    if row.started is not None:
        metric = "vllm_started" if row.started else "vllm_stopped"
        yield Sample(metric, row.id, row.started, answer.get("fits"), answer.get("error"))
    if "max_model_len" not in asked:
        return
    if "needed_gib" in seen:
        yield _sample("vllm_needed", row, seen["needed_gib"] * GIB, answer, "kv_needed_bytes")
    if "pool_gib" in seen:
        yield from _sample_given_pool(row)


def _sample_given_pool(row: Row) -> Iterator[Sample]:
    """Arithmetic of the cache alone: the pool is the one that was printed."""
    seen = row.measured
    if not row.is_refused and not {"tokens", "concurrency"} & seen.keys():
        return
    answer = ask(row.question, kv_cache_memory_bytes=int(seen["pool_gib"] * GIB))
    if "tokens" in seen:
        yield _sample("vllm_tokens", row, seen["tokens"], answer, "kv_cache_tokens")
    if "concurrency" in seen:
        yield _sample("vllm_concurrency", row, seen["concurrency"], answer, "max_concurrency_x")
    if row.is_refused:
        yield Sample("vllm_refused", row.id, False, answer.get("fits"), answer.get("error"))
        if "max_context" in seen:
            yield _sample("vllm_context", row, seen["max_context"], answer, "max_context")


def sample_sglang(row: Row) -> Iterator[Sample]:
    """Weights, and tokens of the printed pool."""
    seen = row.measured
    if "weights_gib" in seen:
        yield _sample("sglang_weights", row, seen["weights_gib"] * GIB, ask(row.question), "weights_bytes_per_rank")
    if "pool_gib" in seen and "tokens" in seen:
        answer = ask(row.question, kv_cache_memory_bytes=int(seen["pool_gib"] * GIB))
        yield _sample("sglang_tokens", row, seen["tokens"], answer, "kv_cache_tokens")


def sample_llamacpp(row: Row) -> Iterator[Sample]:
    """Bytes of all weights, all in host memory, and of the cache for the whole context."""
    seen, answer = row.measured, ask(row.question)
    if "file_gib" in seen:
        yield _sample("llamacpp_file", row, seen["file_gib"] * GIB, answer, "weights_bytes_per_rank")
    if "kv_mib" in seen:
        yield _sample("llamacpp_kv", row, seen["kv_mib"] * MIB, answer, "kv_needed_bytes")


def sample_oracle(row: Row) -> Iterator[Sample]:
    """Weights of the rank that was built, and concurrency where a cache was planned."""
    answer, seen = ask(row.question), row.measured
    ranks = answer.get("ranks") or []
    lines = ranks[seen["rank"]]["lines"] if len(ranks) > seen["rank"] else []
    weights = next((line["bytes"] for line in lines if line["name"] == "weights"), None)
    yield Sample("oracle_weights", row.id, seen["weights_bytes"], weights, answer.get("error"))
    if "concurrency" in seen:
        yield _sample("oracle_concurrency", row, seen["concurrency"], answer, "max_concurrency_x")


def _sample(metric: str, row: Row, seen: Number, answer: Answer, field: str) -> Sample:
    return Sample(metric, row.id, seen, answer.get(field) or None, answer.get("error") or answer.get("reason"))
