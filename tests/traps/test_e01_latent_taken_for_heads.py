"""E1: a latent cache is not a key and a value for each head."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]


def test_deepseek_v3_keeps_one_latent_a_token(ask: Ask) -> None:
    answer = ask("deepseek-ai/DeepSeek-V3", "8xH200", tp=8, max_model_len=131072)
    # 61 layers x (512 latent + 64 rotary) x 2 bytes of BF16
    assert answer["kv_bytes_per_token_per_rank"] == 61 * (512 + 64) * 2 == 70_272
    # As 128 heads of keys (192) and values (128) it would be 61 x 128 x 320 x 2 = 4,997,120: 71 times as much.
    assert answer["kv_needed_bytes"] == 70_272 * 131_072 == 9_210_691_584  # 8.578 GiB


def test_kimi_k2_is_the_same_attention(ask: Ask) -> None:
    answer = ask("moonshotai/Kimi-K2-Instruct", "8xMI355X", tp=8, max_model_len=131072)
    assert answer["kv_bytes_per_token_per_rank"] == 70_272
