"""E11: the cache holds KV heads, not the hidden size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]


def test_405b_has_8_heads_not_128(ask: Ask) -> None:
    answer = ask("meta-llama/Meta-Llama-3.1-405B", "1xMI355X", tp=1, max_model_len=131072)
    # 126 layers x 2 x 8 heads x 128 x 2 bytes; 2 x hidden 16,384 would be sixteen times as much.
    assert answer["kv_bytes_per_token_per_rank"] == 126 * 2 * 8 * 128 * 2 == 516_096
    assert answer["kv_needed_bytes"] == 516_096 * 131_072 == 67_645_734_912
