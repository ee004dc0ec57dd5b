"""Bytes of cached vectors."""

from __future__ import annotations

import pytest

from tonnage.errors import UsageError
from tonnage.memory.kv_types import head_bytes, vector_bytes


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("bfloat16", 256),  # 128 x 2
        ("torch.float16", 256),
        ("float32", 512),
        ("bf16", 256),
        ("fp8", 128),
        ("fp8_e5m2", 128),
        ("float8_e4m3fn", 128),
        ("nvfp4", 72),  # 128/2 values and 128/16 block scales
        ("int8_per_token_head", 132),  # one fp32 scale per token and head
        ("int4_per_token_head", 68),
    ],
)
def test_vector_of_128(dtype: str, expected: int) -> None:
    assert vector_bytes(dtype, 128) == expected


def test_pairs_of_different_formats() -> None:
    # keys 128/2 + 2 B norm, values 128/2 + 4 B scale and zero point
    assert head_bytes("turboquant_4bit_nc", 128, 128) == 66 + 68
    # keys in fp8 128 B, values 68 B
    assert head_bytes("turboquant_k8v4", 128, 128) == 196
    # 3-bit keys: 128*3/8 + 2 = 50, 4-bit values 68
    assert head_bytes("turboquant_k3v4_nc", 128, 128) == 118
    # 100*3/8 = 37.5 -> 38 + 2 and 38 + 4: 82
    assert head_bytes("turboquant_3bit_nc", 100, 100) == 82
    assert head_bytes("bfloat16", 192, 128) == 640


@pytest.mark.parametrize("dtype", ["auto", "int3", "", "fp4"])
def test_unknown_types_are_refused_with_the_accepted_ones(dtype: str) -> None:
    with pytest.raises(UsageError, match="fp8_e4m3"):
        vector_bytes(dtype, 128)
