"""E18: layers that only draft tokens are counted, but apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]


def test_deepseek_v3(ask: Ask) -> None:
    answer = ask("deepseek-ai/DeepSeek-V3", "8xH200", tp=8)
    count = answer["model"]["parameters"]
    assert count["text"] == 671_026_419_200
    # The published 684.5 billion hold the layer of the next token: 11.6 billion and copies of embedding and head.
    assert 11_000_000_000 < count["draft"] < 12_000_000_000
    assert count["total"] == count["text"] + count["draft"] + count["towers"]
    # It is not loaded unless drafts are asked for: 671.03 GB in one byte a weight / 8 is 78.1 GiB, with it 79.5.
    assert answer["weights_bytes_per_rank"] < (671_026_419_200 * 1.03) / 8
