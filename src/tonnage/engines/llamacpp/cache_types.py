"""Element types of llama.cpp's cache (`-ctk`, `-ctv`) and the bytes of one row."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.model.headers.gguf.dtype import list_types
from tonnage.units import ceil_div
from tonnage.value import value

DEFAULT = "f16"
# common/arg.cpp kv_cache_types
ALLOWED = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1")
ALIASES = {"auto": DEFAULT, "float16": "f16", "fp16": "f16", "half": "f16", "bfloat16": "bf16", "float32": "f32"}


@value
class CachePair:
    """Types of keys and of values."""

    keys: str
    values: str

    def __str__(self) -> str:
        return self.keys if self.keys == self.values else f"{self.keys}/{self.values}"


def cache_pair(asked: str | None) -> CachePair:
    """The types asked for: one for both (`q8_0`), or keys and values apart (`q8_0/f16`); None is f16.

    UsageError for types the program does not take.
    """
    keys, _, values = (asked or DEFAULT).lower().partition("(")[0].strip().partition("/")
    return CachePair(_checked(keys), _checked(values or keys))


def _checked(name: str) -> str:
    known = ALIASES.get(name.strip(), name.strip())
    if known not in ALLOWED:
        raise UsageError("KV cache type", name, f"one of {', '.join(ALLOWED)}")
    return known


def row_bytes(dtype: str, width: int) -> int:
    """Bytes of `width` values of a type, whole blocks (ggml_row_size)."""
    kind = next(kind for kind in list_types() if kind.name.lower() == dtype)
    return ceil_div(width, kind.block) * kind.size
