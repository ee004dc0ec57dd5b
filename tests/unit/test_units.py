"""Units: what is printed can be read back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.units import (
    GB,
    GIB,
    MIB,
    TB,
    ceil_div,
    parse_bytes,
    parse_count,
    parse_gib,
    parse_seconds,
    parse_usd,
    render_bytes,
    render_count,
    render_gib,
    render_seconds,
    render_usd,
    round_up,
)


def test_constants() -> None:
    assert (MIB, GIB) == (1_048_576, 1_073_741_824)
    assert (GB, TB) == (1_000_000_000, 1_000_000_000_000)


@pytest.mark.parametrize(
    ("value", "divisor", "up"),
    [(0, 8, 0), (1, 8, 1), (8, 8, 1), (9, 8, 2), (-9, 8, -1), (2**70 + 1, 2, 2**69 + 1)],
)
def test_ceil_div_is_exact(value: int, divisor: int, up: int) -> None:
    assert ceil_div(value, divisor) == up


def test_round_up() -> None:
    assert round_up(0, 64) == 0
    assert round_up(64, 64) == 64
    assert round_up(65, 64) == 128
    assert round_up(163_840 + 1, 2 * MIB) == 2 * MIB


@given(st.integers(0, 2**80), st.integers(1, 2**40))
def test_round_up_is_the_next_multiple(value: int, multiple: int) -> None:
    up = round_up(value, multiple)
    assert up % multiple == 0
    assert 0 <= up - value < multiple


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("31 GiB", 33_285_996_544),  # 31 * 2**30
        ("80GB", 80_000_000_000),
        ("27,648 B", 27_648),
        ("27648", 27_648),
        ("0.5 MiB", 524_288),
        ("1.5 kb", 1_500),
        ("-2 GiB", -2_147_483_648),
        ("9007199254.740993 MB", 9_007_199_254_740_993),  # 2**53 + 1: no float holds it
    ],
)
def test_parse_bytes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "GiB", "31 Gibi", "3.1.4 GiB", "1e3 B", "nan", "inf GiB", "--1 B", "1. GiB", "٣ B", "²"]
)
def test_parse_bytes_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"^bytes: .*: a number with B"):
        parse_bytes(text)


def test_render_gib() -> None:
    assert render_gib(31 * GIB) == "31.0 GiB"
    assert render_gib(31 * GIB, 3) == "31.000 GiB"
    assert render_gib(-1) == "0.0 GiB"
    assert render_gib(-3 * GIB) == "-3.0 GiB"
    assert render_gib(1_558_000 * MIB) == "1,521.5 GiB"  # 1,558,000 / 1,024 = 1,521.48


def test_render_bytes_takes_the_largest_unit() -> None:
    assert render_bytes(512) == "512 B"
    assert render_bytes(27_648) == "27.0 KiB"
    assert render_bytes(429 * MIB) == "429.0 MiB"
    assert render_bytes(195 * GIB) == "195.0 GiB"
    assert render_bytes(3 * 1024 * GIB) == "3.0 TiB"


def test_render_usd() -> None:
    assert render_usd(310_000) == "310,000 USD"
    assert render_usd(2.49) == "2.49 USD"
    assert render_usd(-0.001) == "0.00 USD"


def test_render_seconds() -> None:
    assert render_seconds(0.0121) == "12.1 ms"
    assert render_seconds(4.2) == "4.2 s"
    assert render_seconds(720) == "12.0 min"
    assert render_seconds(3 * 3600) == "3.0 h"
    assert render_seconds(0.0) == "0.0 ms"


def test_count() -> None:
    assert render_count(1_048_576) == "1,048,576"
    assert parse_count("1,048,576") == 1_048_576


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_gib, "31 GB"),
        (parse_gib, "31"),
        (parse_usd, "31 EUR"),
        (parse_usd, "USD"),
        (parse_seconds, "12"),
        (parse_seconds, "12 days"),
        (parse_count, "1.5"),
        (parse_count, "12 B"),
        (parse_count, ""),
    ],
)
def test_a_wrong_unit_is_refused_in_one_line(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-z]+: .*: a ") as caught:
        parse(text)
    assert "\n" not in str(caught.value)


@given(st.integers(-(2**60), 2**60), st.integers(1, 6))
def test_gib_round_trip(size: int, digits: int) -> None:
    shown = render_gib(size, digits)
    assert render_gib(parse_gib(shown), digits) == shown
    assert abs(parse_gib(shown) - size) <= GIB // (2 * 10**digits) + 2**10


@given(st.integers(-(2**60), 2**60))
def test_bytes_round_trip(size: int) -> None:
    """Half of the last digit is the most that printing loses."""
    assert abs(parse_bytes(render_bytes(size)) - size) <= max(abs(size) // 20, 0)


@given(st.integers(-(10**7), 10**9))
def test_usd_round_trip(dollars: int) -> None:
    assert parse_usd(render_usd(dollars)) == dollars


@given(st.floats(0, 10**7))
def test_seconds_round_trip(seconds: float) -> None:
    """A tenth of a unit at the smallest count, half of it lost: 5 %."""
    assert parse_seconds(render_seconds(seconds)) == pytest.approx(seconds, rel=0.05, abs=0.0001)


@given(st.integers(-(2**64), 2**64))
def test_count_round_trip(count: int) -> None:
    assert parse_count(render_count(count)) == count
