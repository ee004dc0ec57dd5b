"""E12: GB on a box are not GiB, and not what the driver leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.units import GIB

Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("card", "low", "high"),
    [
        # GiB that `Total memory` lines of start-up logs show; a B200 of "192 GB" is sold and seen as 180.
        ("B200", 178.0, 179.2),
        ("H100", 79.0, 79.7),
        ("H200", 139.7, 140.5),
        ("MI300X", 191.5, 192.0),
        ("MI355X", 287.0, 288.0),
        ("RTX 4090", 23.5, 24.0),
    ],
)
def test_what_the_engine_sees(ask: Ask, card: str, low: float, high: float) -> None:
    size = ask("Qwen/Qwen3-8B", f"1x{card}", tp=1)["ranks"][0]["card_bytes"]
    assert low * GIB <= size <= high * GIB


def test_192_gb_would_have_flipped_the_answer(ask: Ask) -> None:
    # Kimi K3 at TP8 needs about 192 GiB a card. It is refused for its weights, not by a hair.
    answer = ask("moonshotai/Kimi-K3", "8xB200", tp=8)
    assert answer["verdict"] == "weights-exceed-card"
