"""E7: a windowed layer stops growing at its window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.units import GIB

Ask = Callable[..., dict[str, Any]]
# A window also keeps the steps in flight, two of at most 2048 tokens here.
SMALL = {"max_num_batched_tokens": 2048, "max_num_seqs": 16}
LAYER = 2 * 16 * 128 * 2  # bytes of one token in one layer of Gemma 3 27B: keys and values of 16 heads of 128 in BF16


def test_gemma_3_at_128k(ask: Ask) -> None:
    answer = ask("google/gemma-3-27b-it", "1xH200", max_model_len=131072, **SMALL)
    # Only 10 of 62 layers see everything.
    assert answer["kv_bytes_per_token_per_rank"] == 10 * LAYER == 81_920
    # 10 full layers and 52 windows of 1024 tokens: 10.41 GiB. With steps in flight and layers in groups of ten: 12.3.
    least = (10 * 131_072 + 52 * 1024) * LAYER
    assert least / GIB == pytest.approx(10.41, abs=0.005)
    assert least <= answer["kv_needed_bytes"] < (10 * 131_072 + 60 * (1024 + 2 * 2048 + 32)) * LAYER


def test_as_if_all_layers_were_full_it_would_be_six_times_as_much(ask: Ask) -> None:
    answer = ask("google/gemma-3-27b-it", "1xH200", max_model_len=131072, **SMALL)
    assert 62 * 131_072 * LAYER == 62 * GIB
    assert answer["kv_needed_bytes"] < 13 * GIB
    assert answer["fits"] is True


def test_gpt_oss_at_128k(ask: Ask) -> None:
    answer = ask("openai/gpt-oss-120b", "1xH200", max_model_len=131072, **SMALL)
    # 18 of 36 layers see everything: 18 x 2 x 8 heads x 64 x 2 bytes = 36,864 a token, 4.50 GiB at 131,072.
    assert answer["kv_bytes_per_token_per_rank"] == 36_864
    assert 4.5 * GIB == 36_864 * 131_072
    # 18 windows of 128 tokens, the steps in flight and whole blocks: less than 0.2 GiB more. All 36 layers would be 9.
    assert 4.5 * GIB < answer["kv_needed_bytes"] < 4.7 * GIB
