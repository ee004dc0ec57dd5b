"""Sizes of element types."""

from __future__ import annotations

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.dtypes import element_bytes


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("bfloat16", 2),
        ("float16", 2),
        ("half", 2),
        ("float32", 4),
        ("float", 4),
        ("float64", 8),
        ("float8_e4m3fn", 1),
        ("float8_e5m2", 1),
        ("int8", 1),
        ("uint8", 1),
        ("int32", 4),
        ("int64", 8),
    ],
)
def test_sizes(dtype: str, size: int) -> None:
    assert element_bytes(dtype) == size
    assert element_bytes(f"torch.{dtype}") == size


@pytest.mark.parametrize("dtype", ["", "bf16", "float4", "torch.", "BFLOAT16"])
def test_unknown_types_list_the_known_ones(dtype: str) -> None:
    with pytest.raises(UnreadableError, match="one of float64, float32, float16, bfloat16") as refusal:
        element_bytes(dtype)
    assert refusal.value.thing == "dtype"
