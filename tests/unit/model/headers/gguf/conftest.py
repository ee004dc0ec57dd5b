"""Tensors of GGUF models by their shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.gguf.block import Block

Shapes = Mapping[str, tuple[int, ...]]


def entries_of(shapes: Shapes, prefix: str = "") -> list[TensorEntry]:
    """Entries for `shapes` by name; `.weight` is added to names that have no ending of their own."""
    bare = ("ssm_a",)
    return [
        TensorEntry(f"{prefix}{name}{'' if name.endswith('.bias') or name in bare else '.weight'}", "F16", shape, 0)
        for name, shape in shapes.items()
    ]


@pytest.fixture(scope="session")
def entries() -> Callable[..., list[TensorEntry]]:
    """The builder of tensor lists."""
    return entries_of


@pytest.fixture(scope="session")
def block() -> Callable[..., Block]:
    """The builder of one block from shapes by name."""

    def build(shapes: Shapes, number: int = 0) -> Block:
        named = {entry.name.removesuffix(".weight"): entry for entry in entries_of(shapes)}
        return Block(number, named)

    return build
