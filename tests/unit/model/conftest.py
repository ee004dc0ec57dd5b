"""Builders of small checkpoint files, written from the descriptions of the formats."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence

import pytest

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def pack_safetensors(header: object, data: bytes = b"") -> bytes:
    """A file whose JSON is `header` (text or bytes are taken as they are) followed by `data`."""
    text = (
        header
        if isinstance(header, bytes)
        else header.encode()
        if isinstance(header, str)
        else json.dumps(header).encode()
    )
    return len(text).to_bytes(8, "little") + text + data


def pack_text(order: str, text: str | bytes) -> bytes:
    """A GGUF string: 64-bit length, then the bytes."""
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack(f"{order}Q", len(data)) + data


def pack_value(order: str, kind: int, value: object) -> bytes:
    """A GGUF value without its type; an array is (item type, items)."""
    if kind == 8:
        return pack_text(order, value)  # type: ignore[arg-type]
    if kind == 9:
        item, items = value  # type: ignore[misc]
        return struct.pack(f"{order}IQ", item, len(items)) + b"".join(pack_value(order, item, each) for each in items)
    return struct.pack(order + SCALARS[kind], value)


def pack_gguf(
    keys: Sequence[tuple[str, int, object]] = (),
    tensors: Sequence[tuple[str, tuple[int, ...], int, int]] = (),
    order: str = "<",
    version: int = 3,
    alignment: int = 32,
) -> bytes:
    """A file with `keys` (name, type, value) and `tensors` (name, axes fastest first, ggml type, data bytes)."""
    out = b"GGUF" + struct.pack(f"{order}IQQ", version, len(tensors), len(keys))
    for key, kind, value in keys:
        out += pack_text(order, key) + struct.pack(f"{order}I", kind) + pack_value(order, kind, value)
    data = b""
    for name, axes, kind, size in tensors:
        out += pack_text(order, name) + struct.pack(f"{order}I{len(axes)}QIQ", len(axes), *axes, kind, len(data))
        data += bytes(size) + bytes(-size % alignment)
    return out + bytes(-len(out) % alignment) + data


@pytest.fixture(scope="session")
def safetensors() -> Callable[..., bytes]:
    """The builder of safetensors files."""
    return pack_safetensors


@pytest.fixture(scope="session")
def gguf() -> Callable[..., bytes]:
    """The builder of GGUF files."""
    return pack_gguf
