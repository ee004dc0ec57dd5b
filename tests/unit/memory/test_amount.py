"""Sizes as logs print them."""

from __future__ import annotations

import pytest

from tonnage.memory.amount import Amount, read_amount

GIB, MIB = 2**30, 2**20


def test_two_decimals() -> None:
    amount = read_amount("14.98", "GiB")
    assert amount.bytes == 16_084_652_524  # 14.98 x 2**30 = 16,084,652,523.52
    assert amount.high - amount.bytes == 5_368_709  # 0.005 x 2**30
    assert amount.bytes - amount.low == 5_368_709


@pytest.mark.parametrize(
    ("number", "unit", "size", "half"),
    [("8", "GiB", 8 * GIB, GIB // 2), ("105.00", "MiB", 105 * MIB, 5242), ("-1.5", "GiB", -3 * GIB // 2, 53_687_091)],
)
def test_the_last_digit_is_the_band(number: str, unit: str, size: int, half: int) -> None:
    assert read_amount(number, unit) == Amount(size, size - half, size + half)


@pytest.mark.parametrize("number", ["", "many", "1.2.3", "1e9"])
def test_no_number(number: str) -> None:
    with pytest.raises(ValueError):
        read_amount(number, "GiB")


def test_bands_add_up_both_ways() -> None:
    first, second = Amount(100, 90, 110), Amount(30, 28, 32)
    assert first.plus(second) == Amount(130, 118, 142)
    assert first.minus(second) == Amount(70, 58, 82)  # 90 - 32 and 110 - 28


def test_a_line_never_goes_below_nothing() -> None:
    line = Amount(-5, -9, 2).line("draft", "why")
    assert (line.bytes, line.low, line.high, line.basis, line.trace) == (0, 0, 2, "measured", "why")
