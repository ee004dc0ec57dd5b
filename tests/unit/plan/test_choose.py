"""The layout that is taken, and why."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.layout import Layout
from tonnage.plan.choose import Choice, choose
from tonnage.plan.desk import open_desk
from tonnage.plan.question import Question


def chosen(model: str, gpu: str, **fields: Any) -> Choice:
    """The choice for a question."""
    return choose(open_desk(Question(model, gpu, **fields)))


def test_a_stated_layout_is_evaluated_as_it_is() -> None:
    choice = chosen("Qwen/Qwen3-8B", "8xH100", tp=2)
    assert choice.found.job.layout == Layout(tp=2)
    assert choice.verdict.fits
    assert choice.why == ""


def test_a_stated_layout_that_does_not_fit_stays() -> None:
    choice = chosen("meta-llama/Meta-Llama-3.1-405B", "8xH100", tp=8)
    assert choice.found.job.layout == Layout(tp=8)
    assert choice.verdict.name == "weights-exceed-card"


def test_the_simplest_that_fits_is_taken() -> None:
    choice = chosen("Qwen/Qwen3-8B", "8xH100")
    assert choice.found.job.layout == Layout(tp=8)
    assert choice.why == "TP8 is the simplest layout, and it fits"


def test_one_card_leaves_no_choice() -> None:
    assert chosen("Qwen/Qwen3-8B", "1xH100").why == ""


def test_what_was_passed_over_is_named() -> None:
    # 32 heads over three cards: only stages use all of them.
    choice = chosen("Qwen/Qwen3-8B", "3xH100")
    assert choice.found.job.layout == Layout(pp=3)
    assert choice.why.startswith("PP3 because simpler layouts are refused: ")


def test_between_nodes_stand_stages() -> None:
    choice = chosen("meta-llama/Meta-Llama-3.1-405B", "2x8xH100")
    assert choice.found.job.layout == Layout(tp=8, pp=2)
    assert choice.why == "TP8 x PP2: tensor parallel inside a node, pipeline stages between nodes"


def test_refused_layouts_are_passed_over_and_named() -> None:
    # 1536 / 8 = 192 output features are no whole blocks of 128 up to 0.31.
    choice = chosen("Qwen/Qwen3-235B-A22B-FP8", "8xH100", engine_version="0.11.0")
    assert choice.found.job.layout == Layout(tp=8, ep=True)
    assert choice.why.startswith("TP8 x EP because simpler layouts are refused: mlp.experts.gate_proj: 192")


def test_heads_that_do_not_divide_lead_to_stages() -> None:
    # 14 heads over 8 ranks; 24 layers over 8 stages. (4 x 2 does not divide 14 either, 2 x 4 does.)
    choice = chosen("Qwen/Qwen2.5-0.5B", "8xH100")
    assert choice.found.job.layout == Layout(tp=2, pp=4)
    assert "14" in choice.why


def test_the_nearest_is_shown_where_none_fits() -> None:
    choice = chosen("moonshotai/Kimi-K3", "2xH100")
    assert not choice.verdict.fits
    # Of the layouts that can be cut, the one with the least weights on its heaviest card.
    layout = choice.found.job.layout
    assert layout.world == 2
    assert choice.why == f"{layout.words} comes nearest of the layouts that were tried"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"tp": 16}, "layout: TP16 needs 16 cards: at most the 8 given"),
        ({"tp": 8, "pp": 2}, "layout: TP8 x PP2 needs 16 cards: at most the 8 given"),
        ({"dp_attention": True, "dp": 9}, "layout: DP9 x EP needs 9 cards: at most the 8 given"),
    ],
)
def test_more_cards_than_there_are(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(LayoutError) as refusal:
        chosen("Qwen/Qwen3-8B", "8xH100", **fields)
    assert refusal.value.line == text


def test_what_cannot_be_cut_is_raised() -> None:
    with pytest.raises(LayoutError, match=r"attention heads .32. must be divisible"):
        chosen("Qwen/Qwen3-8B", "8xH100", tp=3)
