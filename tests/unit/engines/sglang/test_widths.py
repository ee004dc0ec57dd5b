from __future__ import annotations

from tonnage.engines.sglang.widths import sglang_widths
from tonnage.layout.layout import Layout
from tonnage.layout.widths import Widths


def test_tensor_parallelism_cuts_everything() -> None:
    assert sglang_widths(Layout(8)) == Widths(8, 8, 8, 8, 8, 8, 8, 1)


def test_expert_parallelism_keeps_experts_whole() -> None:
    assert sglang_widths(Layout(8, ep=True)) == Widths(8, 8, 8, 8, 8, 8, 1, 8)


def test_data_parallel_attention_lies_inside_the_group() -> None:
    # 8 ranks in 4 replicas: attention over 2, embedding and encoder with it, all else over 8.
    assert sglang_widths(Layout(8, dp=4, dp_inside_tp=True)) == Widths(2, 8, 8, 2, 8, 2, 8, 1)
    assert sglang_widths(Layout(8, dp=8, ep=True, dp_inside_tp=True)) == Widths(1, 8, 8, 1, 8, 1, 1, 8)


def test_plain_data_parallelism_is_copies() -> None:
    assert sglang_widths(Layout(2, dp=4)) == Widths(2, 2, 2, 2, 2, 2, 2, 1)
