"""Which layouts a fleet allows, in the order a person would try them."""

from __future__ import annotations

from collections.abc import Iterator

from tonnage.catalog.fleet import Fleet
from tonnage.layout.layout import Layout
from tonnage.model.arch import Arch
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.mla import Mla


def is_moe(arch: Arch) -> bool:
    """Whether any layer routes to experts."""
    return any(isinstance(ffn, Moe) for layer in arch.layers for ffn in layer.ffns)


def is_latent(arch: Arch) -> bool:
    """Whether every tensor-parallel rank holds a full copy of the cache."""
    return any(isinstance(mixer, Mla | Compressed) for layer in arch.layers for mixer in layer.mixers)


def candidate_layouts(arch: Arch, fleet: Fleet) -> Iterator[Layout]:
    """Layouts that use every card, simplest first.

    Tensor parallelism inside a node and pipeline stages across nodes keep the busy links short; then tensor
    parallelism over everything; then whole experts per rank; then more stages; last, fewer cards.
    """
    cards = fleet.count
    total = fleet.nodes * cards
    seen: set[Layout] = set()
    for layout in _ordered(arch, cards, total, fleet.nodes):
        if layout not in seen and layout.world <= total:
            seen.add(layout)
            yield layout


def _ordered(arch: Arch, cards: int, total: int, nodes: int) -> Iterator[Layout]:
    experts = is_moe(arch)
    yield Layout(tp=cards, pp=nodes)
    if experts:
        yield Layout(tp=cards, pp=nodes, ep=True)
    yield Layout(tp=total)
    if experts:
        yield Layout(tp=total, ep=True)
    for tp in _divisors(cards):
        yield Layout(tp=tp, pp=total // tp)
        if experts:
            yield Layout(tp=tp, pp=total // tp, ep=True)
    for tp in range(cards - 1, 0, -1):
        yield Layout(tp=tp)


def attention_replicas(arch: Arch, world: int) -> Layout | None:
    """Data-parallel attention with whole experts per rank, where copies of the latent cache make it worth it."""
    if world > 1 and is_latent(arch) and is_moe(arch):
        return Layout(tp=1, dp=world, ep=True)
    return None


def _divisors(number: int) -> list[int]:
    return [size for size in range(number, 0, -1) if number % size == 0]
