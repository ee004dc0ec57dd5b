"""Over how many ranks each group is divided."""

from tonnage.layout.layout import Layout
from tonnage.layout.widths import plain_widths, width_of


def test_tensor_parallel_cuts_everything() -> None:
    widths = plain_widths(Layout(tp=8))
    assert (widths.attention, widths.dense, widths.moe_tp, widths.moe_ep) == (8, 8, 8, 1)


def test_experts_are_flattened_over_data_parallel_ranks() -> None:
    # vLLM: without EP each expert's inner width is divided by TP x DP.
    widths = plain_widths(Layout(tp=4, dp=2))
    assert (widths.attention, widths.moe_tp, widths.moe_ep) == (4, 8, 1)


def test_expert_parallel_distributes_whole_experts() -> None:
    widths = plain_widths(Layout(tp=4, dp=2, ep=True))
    assert (widths.moe_tp, widths.moe_ep, widths.shared) == (1, 8, 4)


def test_every_group_has_its_width() -> None:
    widths = plain_widths(Layout(tp=4, dp=2))
    assert {group: width_of(group, widths) for group in ("attention", "dense", "shared", "embedding", "head")} == {
        "attention": 4, "dense": 4, "shared": 4, "embedding": 4, "head": 4,
    }  # fmt: skip
    assert (width_of("tower", widths), width_of("plain", widths), width_of("experts", widths)) == (4, 4, 8)


def test_words() -> None:
    words = plain_widths(Layout(tp=4, dp=2, ep=True)).words
    assert words == "attention over 4 ranks, dense parts over 4, experts whole over 8"
    assert plain_widths(Layout()).words == "attention over 1 ranks, dense parts over 1, experts cut over 1"
