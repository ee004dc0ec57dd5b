"""E15: prefill is cut into steps, so activations do not follow the context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]
Line = Callable[..., int]


@pytest.mark.parametrize("model", ["meta-llama/Meta-Llama-3.1-8B", "Qwen/Qwen3-30B-A3B"])
def test_context_does_not_matter(ask: Ask, line: Line, model: str) -> None:
    sizes = {
        length: line(ask(model, "1xMI300X", tp=1, max_model_len=length, max_num_batched_tokens=8192), "activations")
        for length in (8192, 16384, 40960)
    }
    assert len(set(sizes.values())) == 1
    assert sizes[8192] < 8 * 2**30


def test_the_step_does(ask: Ask, line: Line) -> None:
    fields = {"tp": 1, "max_model_len": 131072, "max_num_seqs": 16}
    small = line(ask("meta-llama/Meta-Llama-3.1-8B", "1xMI300X", max_num_batched_tokens=8192, **fields), "activations")
    large = line(
        ask("meta-llama/Meta-Llama-3.1-8B", "1xMI300X", max_num_batched_tokens=131072, **fields), "activations"
    )
    assert large == pytest.approx(16 * small, rel=0.05)
