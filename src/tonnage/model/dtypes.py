"""Sizes of element types."""

from __future__ import annotations

from tonnage.errors import UnreadableError

ELEMENT_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float": 4, "half": 2,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "int8": 1, "uint8": 1, "int64": 8, "int32": 4,
}  # fmt: skip
FLOAT32_BYTES = ELEMENT_BYTES["float32"]


def element_bytes(dtype: str) -> int:
    """Bytes of one element of `dtype` (`bfloat16`, `torch.float32`)."""
    size = ELEMENT_BYTES.get(dtype.removeprefix("torch."))
    if size is None:
        raise UnreadableError("dtype", dtype, f"one of {', '.join(ELEMENT_BYTES)}")
    return size
