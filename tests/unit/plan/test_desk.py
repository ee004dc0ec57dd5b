"""A question made ready."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.catalog.fleet import Fleet
from tonnage.errors import UsageError
from tonnage.layout.layout import Layout
from tonnage.plan.desk import Desk, open_desk
from tonnage.plan.fleets import find_card
from tonnage.plan.question import Question

MODEL, MIXTURE = "Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3"


def desk(gpu: str = "8xH100", model: str = MODEL, **fields: Any) -> Desk:
    """The desk of a question."""
    return open_desk(Question(model, gpu, **fields))


def test_all_that_was_asked_is_looked_up() -> None:
    found = desk(engine_version="0.11.0")
    assert found.model.id == MODEL
    assert found.fleet.num_cards == 8
    assert (found.engine.name, found.engine.version) == ("vllm", "0.11.0")
    assert (found.layout, found.adjust) == (None, None)


@pytest.mark.parametrize(
    ("fields", "layout"),
    [
        ({}, None),
        ({"ep": False}, None),
        ({"tp": 4}, Layout(tp=4)),
        ({"tp": 1}, Layout()),
        # What is not said is tensor parallel over the rest.
        ({"pp": 2}, Layout(tp=4, pp=2)),
        ({"dp": 2}, Layout(tp=4, dp=2)),
        ({"ep": True}, Layout(tp=8, ep=True)),
        ({"tp": 4, "dp": 2, "ep": True}, Layout(tp=4, dp=2, ep=True)),
        ({"dcp": 2}, Layout(tp=8, dcp=2)),
        # In vLLM replicas of attention take the place of tensor parallelism.
        ({"dp_attention": True}, Layout(tp=1, dp=8, ep=True)),
        ({"dp_attention": True, "dp": 4, "tp": 2}, Layout(tp=2, dp=4, ep=True)),
        ({"dp_attention": True, "dp": 8}, Layout(tp=1, dp=8, ep=True)),
        # More stages than cards: refused later, with the number of cards.
        ({"pp": 16}, Layout(tp=1, pp=16)),
    ],
)
def test_stated_layouts(fields: dict[str, Any], layout: Layout | None) -> None:
    assert desk(model=MIXTURE, **fields).layout == layout


@pytest.mark.parametrize(
    ("fields", "layout"),
    [
        ({"dp_attention": True}, Layout(tp=8, dp=8, dp_inside_tp=True)),
        ({"dp_attention": True, "dp": 4}, Layout(tp=2, dp=4, dp_inside_tp=True)),
        ({"dp_attention": True, "tp": 8, "dp": 4}, Layout(tp=8, dp=4, dp_inside_tp=True)),
    ],
)
def test_sglang_divides_the_tensor_parallel_group(fields: dict[str, Any], layout: Layout) -> None:
    pytest.importorskip("tonnage.engines.sglang.engine")
    assert desk(model=MIXTURE, engine="sglang", **fields).layout == layout


def test_limits_carry_the_units_of_the_engine() -> None:
    limits = desk(
        max_model_len=4096, cpu_offload_gb=1.5, kv_cache_memory_bytes=10**9, enforce_eager=True, concurrency=4
    ).limits
    assert limits.offload_bytes == 1_610_612_736  # 1.5 GiB
    assert (limits.max_model_len, limits.kv_bytes, limits.eager, limits.concurrency) == (4096, 10**9, True, 4)


@pytest.mark.parametrize("field", ["gpu_memory_utilization", "mem_fraction_static"])
def test_either_fraction_will_do(field: str) -> None:
    assert desk(**{field: 0.85}).limits.fraction == 0.85


def test_both_fractions_contradict() -> None:
    with pytest.raises(UsageError, match="not both"):
        desk(gpu_memory_utilization=0.9, mem_fraction_static=0.8)


@pytest.mark.parametrize("fields", [{"model": "no/such-model"}, {"gpu": "8xH1000"}, {"engine": "vlm"}])
def test_unknown_names(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        desk(**fields)


def test_context_is_shortened_when_none_was_asked() -> None:
    # 16.4 of 22 GiB are weights; what is left holds some 30,000 tokens of 144 KiB, not 40,960.
    found = desk("1xRTX4090").evaluate(Layout())
    assert 8192 <= found.serving.max_model_len < 40_960
    assert found.busiest.pool.fits
    assert found.busiest.pool.max_context == found.serving.max_model_len


def test_an_asked_context_is_kept() -> None:
    found = desk("1xRTX4090", max_model_len=40_960).evaluate(Layout())
    assert found.serving.max_model_len == 40_960
    assert not found.busiest.pool.fits


def test_a_context_of_a_few_lines_is_no_answer() -> None:
    # On 16 GiB nothing is left for the cache.
    found = desk("1xT4").evaluate(Layout())
    assert found.serving.max_model_len == 40_960
    assert not found.busiest.pool.fits


def test_moved_desks_have_their_own_rules_and_no_layout() -> None:
    moved = desk(tp=8, engine_version="0.11.0").moved(Fleet(1, 4, find_card("MI300X")))
    assert (moved.fleet.num_cards, moved.layout) == (4, None)
    assert moved.engine.version == "0.11.0"
    assert moved.job(Layout(tp=4)).card_bytes == find_card("MI300X").memory_bytes
