"""The accuracy table."""

from __future__ import annotations

import pytest
from validation.sample import Sample
from validation.table import put_between, render_markdown, summarize

SAMPLES = [
    Sample("vllm_weights", "a", 100, 100),
    Sample("vllm_weights", "b", 100, 102),
    Sample("vllm_weights", "c", 100, 108),
    Sample("vllm_weights", "d", 100, None),
    Sample("vllm_started", "a", True, True),
    Sample("vllm_started", "b", True, False),
]


def test_shares_are_of_all_rows_asked() -> None:
    weights, _ = summarize(SAMPLES)
    assert (weights.asked, weights.answered) == (4, 3)
    assert weights.median == pytest.approx(0.02)
    assert weights.within == (0.25, 0.5, 0.75)  # 1, 2 and 3 of 4
    assert weights.right_percent == 50.0


def test_yes_and_no_have_only_a_share() -> None:
    _, started = summarize(SAMPLES)
    assert started.median is None
    assert started.within == (None, None, None)
    assert started.right_percent == 50.0


def test_metrics_come_in_their_order_and_only_if_asked() -> None:
    lines = summarize(reversed(SAMPLES))
    assert [line.metric.key for line in lines] == ["vllm_weights", "vllm_started"]


def test_cells() -> None:
    rows = render_markdown(summarize(SAMPLES)).splitlines()
    assert rows[2] == "| vLLM: weights per rank | 4 | 3 | 2.00 % | 25 % | 50 % | 75 % | 50 % |"
    assert rows[3] == "| vLLM: started, and we say it fits | 2 | 2 |  |  |  |  | 50 % |"


def test_put_between_keeps_what_is_around() -> None:
    text = "before\n<!-- accuracy:start -->\nold\n<!-- accuracy:end -->\nafter\n"
    assert put_between(text, "new") == "before\n<!-- accuracy:start -->\nnew\n<!-- accuracy:end -->\nafter\n"
    assert put_between(put_between(text, "x"), "new") == put_between(text, "new")


@pytest.mark.parametrize("text", ["", "<!-- accuracy:start -->", "<!-- accuracy:end --><!-- accuracy:start -->"])
def test_put_between_wants_both_markers(text: str) -> None:
    with pytest.raises(ValueError, match="accuracy:start"):
        put_between(text, "new")
