"""E16: a packed tensor holds more parameters than it has elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("model", "parameters", "size"),
    [
        # 116.8 billion; experts in 4.25 bits, the rest in 16: 65.2 GB on disk (60.8 GiB)
        ("openai/gpt-oss-120b", 116_829_156_672, 65_248_815_744),
        # 1.026 trillion; experts in 4 bits with a scale for 32: 594 GB
        ("moonshotai/Kimi-K2-Thinking", 1_026_408_232_448, 594_200_000_000),
        # 2.780 trillion; 1.56 TB
        ("moonshotai/Kimi-K3", 2_779_931_834_976, 1_560_000_000_000),
    ],
)
def test_parameters_and_bytes(ask: Ask, model: str, parameters: int, size: int) -> None:
    found = ask(model, "8xMI355X", tp=8)["model"]
    assert found["parameters"]["total"] == parameters
    assert found["stored_bytes"] == pytest.approx(size, rel=0.001)


def test_four_bits_are_not_two_to_a_parameter(ask: Ask) -> None:
    found = ask("openai/gpt-oss-120b", "1xH200")["model"]
    assert 0.5 < found["stored_bytes"] / found["parameters"]["total"] < 0.6
