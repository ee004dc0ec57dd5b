"""E2: the rotary part of a latent cache is stored beside the latent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]


def test_the_stored_width_is_576_not_512(ask: Ask) -> None:
    answer = ask("deepseek-ai/DeepSeek-R1", "8xH200", tp=8, max_model_len=4096)
    assert answer["kv_bytes_per_token_per_rank"] // (61 * 2) == 576
    # Without the 64 rotary values: 61 x 512 x 2 = 62,464, 11 % short.
    assert answer["kv_bytes_per_token_per_rank"] - 62_464 == 61 * 64 * 2
