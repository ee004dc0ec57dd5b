"""Rows as questions: what is compared with what."""

from __future__ import annotations

from typing import Any

import pytest
from validation import ask as room
from validation.ask import ask, sample_llamacpp, sample_oracle, sample_sglang, sample_vllm
from validation.rows import Row
from validation.sample import Sample

from tonnage.units import GIB, MIB

Answers = dict[str, Any]
QUESTION = {"model": "m", "gpu": "g", "gpu_memory_utilization": 0.9, "engine_version": "0.10.0", "max_model_len": 4096}


def row(measured: dict[str, Any], question: dict[str, Any] | None = None, **more: Any) -> Row:
    asked = QUESTION if question is None else question
    return Row("r", "measured", "https://example.org", "2026-11-30", asked, measured, **more)


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A planner that answers the same to everything and keeps what it was asked."""
    asked: list[dict[str, Any]] = []

    def answer(question: dict[str, Any], **changes: Any) -> Answers:
        asked.append(question | changes)
        lines = [{"name": "weights", "bytes": 11}]
        return {
            "fits": True, "weights_bytes_per_rank": 8 * GIB, "kv_cache_bytes_per_rank": 40 * GIB,
            "kv_cache_tokens": 1000, "max_concurrency_x": 2.5, "kv_needed_bytes": 3 * GIB, "max_context": 5000,
            "ranks": [{"lines": lines}, {"lines": [{"name": "weights", "bytes": 12}]}],
        }  # fmt: skip

    monkeypatch.setattr(room, "ask", answer)
    return asked


def by_metric(samples: Any) -> dict[str, Sample]:
    return {sample.metric: sample for sample in samples}


def test_a_log_of_vllm(planner: list[dict[str, Any]]) -> None:
    measured = {"weights_gib": 8.0, "pool_gib": 39.0, "tokens": 990, "concurrency": 2.4, "needed_gib": 3.0}
    found = by_metric(sample_vllm(row(measured, started=True)))
    assert {metric: (sample.seen, sample.predicted) for metric, sample in found.items()} == {
        "vllm_weights": (8 * GIB, 8 * GIB),
        "vllm_pool": (39 * GIB, 40 * GIB),
        "vllm_started": (True, True),
        "vllm_needed": (3 * GIB, 3 * GIB),
        "vllm_tokens": (990, 1000),
        "vllm_concurrency": (2.4, 2.5),
    }
    assert planner == [QUESTION, QUESTION | {"kv_cache_memory_bytes": 39 * GIB}]


@pytest.mark.usefixtures("planner")
def test_a_refused_start() -> None:
    found = by_metric(sample_vllm(row({"pool_gib": 39.0, "max_context": 4900}, started=False, is_refused=True)))
    assert (found["vllm_stopped"].is_right, found["vllm_refused"].is_right) == (False, False)
    assert found["vllm_context"].predicted == 5000


def test_what_depends_on_unknown_settings_is_not_asked(planner: list[dict[str, Any]]) -> None:
    found = by_metric(sample_vllm(row({"pool_gib": 39.0, "tokens": 1, "needed_gib": 1.0}, {"model": "m", "gpu": "g"})))
    assert found == {}
    assert len(planner) == 1


@pytest.mark.usefixtures("planner")
def test_sglang_asks_for_tokens_only_with_a_pool() -> None:
    assert by_metric(sample_sglang(row({"weights_gib": 8.0, "tokens": 5}))).keys() == {"sglang_weights"}
    assert by_metric(sample_sglang(row({"pool_gib": 1.0, "tokens": 5}))).keys() == {"sglang_tokens"}


@pytest.mark.usefixtures("planner")
def test_llamacpp() -> None:
    found = by_metric(sample_llamacpp(row({"file_gib": 8.0, "kv_mib": 3072.0})))
    assert found["llamacpp_file"].error == 0
    assert (found["llamacpp_kv"].seen, found["llamacpp_kv"].predicted) == (3072 * MIB, 3 * GIB)


@pytest.mark.parametrize(("rank", "size"), [(0, 11), (1, 12), (2, None)])
@pytest.mark.usefixtures("planner")
def test_the_rank_that_was_built(rank: int, size: int | None) -> None:
    found = by_metric(sample_oracle(row({"weights_bytes": 11, "rank": rank})))
    assert found["oracle_weights"].predicted == size


def test_an_error_is_an_answer() -> None:
    assert ask({"model": "nobody/has-this", "gpu": "1xH100"})["error"].startswith("model: ")
    assert ask({"model": "Qwen/Qwen3-8B", "gpu": "1xH100"}, tp=1)["fits"] is True
