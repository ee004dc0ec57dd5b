"""E25: a long prompt is prefilled in steps unless somebody asks otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]
Line = Callable[..., int]


def test_the_default_step_is_the_engines(ask: Ask, line: Line) -> None:
    answer = ask("deepseek-ai/DeepSeek-V3", "8xH200", tp=8, max_model_len=131072)
    # A server on a card of 140 GB: 8192 tokens a step, whatever the prompt
    assert answer["serving"]["max_num_batched_tokens"] == 8192
    assert answer["fits"] is True
    assert line(answer, "activations") < 10 * 2**30


def test_asked_for_one_step_it_costs_what_it_costs(ask: Ask, line: Line) -> None:
    whole = ask("deepseek-ai/DeepSeek-V3", "8xH200", tp=8, max_model_len=131072, max_num_batched_tokens=131072)
    steps = ask("deepseek-ai/DeepSeek-V3", "8xH200", tp=8, max_model_len=131072)
    assert line(whole, "activations") > 4 * line(steps, "activations")
    assert whole["max_concurrency_x"] < steps["max_concurrency_x"]
