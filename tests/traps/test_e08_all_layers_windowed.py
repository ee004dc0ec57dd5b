"""E8: a window of some layers is not the window of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]


def test_gpt_oss_grows_with_the_context(ask: Ask) -> None:
    short = ask("openai/gpt-oss-120b", "1xH200", max_model_len=16384)
    long = ask("openai/gpt-oss-120b", "1xH200", max_model_len=131072)
    # 18 full layers x 2 x 8 x 64 x 2 bytes for each of the 114,688 tokens between
    assert long["kv_needed_bytes"] - short["kv_needed_bytes"] >= 114_688 * 36_864
    # 128 tokens in 36 layers would be 9 MiB and 700 requests at once.
    assert long["max_concurrency_x"] < 20
