from __future__ import annotations

import pytest

from tonnage.engines.llamacpp.cache_types import CachePair, cache_pair, row_bytes
from tonnage.errors import UsageError


@pytest.mark.parametrize(
    ("asked", "pair"),
    [
        (None, CachePair("f16", "f16")),
        ("auto", CachePair("f16", "f16")),
        ("bfloat16", CachePair("bf16", "bf16")),
        ("Q8_0", CachePair("q8_0", "q8_0")),
        ("q8_0/f16", CachePair("q8_0", "f16")),
        ("f16 (default)", CachePair("f16", "f16")),
    ],
)
def test_asked_types(asked: str | None, pair: CachePair) -> None:
    assert cache_pair(asked) == pair


def test_pairs_print_as_they_are_asked() -> None:
    assert str(CachePair("q8_0", "q8_0")) == "q8_0"
    assert str(CachePair("q8_0", "f16")) == "q8_0/f16"


@pytest.mark.parametrize("asked", ["fp8", "q6_k", "q8_0/nf4", "int8"])
def test_other_types_are_refused(asked: str) -> None:
    with pytest.raises(UsageError, match="one of f32, f16, bf16, q8_0"):
        cache_pair(asked)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("f32", 576 * 4),
        ("f16", 1152),
        ("bf16", 1152),
        ("q8_0", 18 * 34),
        ("q4_0", 18 * 18),
        ("q4_1", 18 * 20),
        ("iq4_nl", 18 * 18),
        ("q5_0", 18 * 22),
        ("q5_1", 18 * 24),
    ],
)
def test_rows_of_a_latent(dtype: str, size: int) -> None:
    # 576 values are 18 blocks of 32.
    assert row_bytes(dtype, 576) == size


def test_blocks_are_whole() -> None:
    assert row_bytes("q8_0", 33) == 2 * 34
