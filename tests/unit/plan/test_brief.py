"""Obstacles in a few words."""

from __future__ import annotations

from typing import Any

from tonnage.catalog.fleet import Fleet
from tonnage.errors import LayoutError
from tonnage.layout.layout import Layout
from tonnage.plan.brief import brief_obstacle, brief_refusal, brief_total
from tonnage.plan.desk import open_desk
from tonnage.plan.evaluate import Evaluation
from tonnage.plan.fleets import find_card
from tonnage.plan.question import Question
from tonnage.value import replace

GIB = 2**30


def found(model: str, gpu: str, layout: Layout, **fields: Any) -> Evaluation:
    """An evaluation of a stated layout."""
    return open_desk(Question(model, gpu, **fields)).evaluate(layout)


def test_weights() -> None:
    # 405,853,388,800 parameters x 2 B over eight ranks are 94.5 GiB.
    evaluation = found("meta-llama/Meta-Llama-3.1-405B", "8xH100", Layout(tp=8))
    assert brief_obstacle(evaluation) == "weights 94.5 of 79.2 GiB"


def test_one_request() -> None:
    # 36 layers x 8 heads x 256 x 2 B x 40,960 tokens = 5.625 GiB
    evaluation = found("Qwen/Qwen3-8B", "1xRTX4090", Layout(), max_model_len=40_960)
    start, _, rest = brief_obstacle(evaluation).partition(" of ")
    assert start == "a request 5.6"
    assert 4 < float(rest.removesuffix(" GiB")) < 5.6


def test_no_cache() -> None:
    evaluation = found("Qwen/Qwen3-32B", "1xA100-SXM-80GB", Layout(), gpu_memory_utilization=0.78)
    assert brief_obstacle(evaluation).startswith("no cache: ")


def test_too_few_requests() -> None:
    words = brief_obstacle(found("Qwen/Qwen3-8B", "1xH100", Layout(), concurrency=1000))
    assert words.endswith(" of 1000 requests fit")


def test_loading() -> None:
    evaluation = found("Qwen/Qwen3-8B", "1xH100", Layout())
    rank = evaluation.ranks[0]
    heavy = replace(rank, ledger=replace(rank.ledger, load_peak_bytes=90 * GIB))
    assert brief_obstacle(replace(evaluation, ranks=(heavy,))) == "loading 90.0 of 79.2 GiB"


def test_refusals() -> None:
    refusal = LayoutError("tensor parallel size", "14 heads over 8 ranks", "a divisor of 14")
    assert brief_refusal(refusal) == "refused: 14 heads over 8 ranks"
    evaluation = replace(found("Qwen/Qwen3-8B", "1xH100", Layout()), refusal=refusal)
    assert brief_obstacle(evaluation) == "refused: 14 heads over 8 ranks"


def test_all_cards_together() -> None:
    # 8 x 79.18 = 633.4
    assert brief_total(756 * GIB, Fleet(1, 8, find_card("H100"))) == "8 hold 633 of 756 GiB"
