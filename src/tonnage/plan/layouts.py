"""Which layouts a fleet allows, in the order a person would try them."""

from __future__ import annotations

from tonnage.layout.layout import MAX_WORLD, Layout
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.catalog.fleet import Fleet
    from tonnage.model.arch import Arch


def is_latent(arch: Arch) -> bool:
    """Whether every tensor-parallel rank holds a full copy of the cache."""
    return arch.has_mixer((Mla, Compressed))


def candidate_layouts(arch: Arch, fleet: Fleet) -> Iterator[Layout]:
    """Layouts that use every card, simplest first, each mixture of experts also with whole experts per rank.

    Tensor parallelism inside a node and pipeline stages across nodes keep the busy links short; then tensor
    parallelism over everything; then more stages; last, fewer cards.
    """
    for tp, pp in dict.fromkeys(_sizes(fleet)):
        if max(tp, pp) <= MAX_WORLD:
            yield Layout(tp=tp, pp=pp)
            if arch.has_experts and tp * pp == fleet.num_cards:
                yield Layout(tp=tp, pp=pp, ep=True)


def _sizes(fleet: Fleet) -> Iterator[tuple[int, int]]:
    """Tensor and pipeline parallel sizes, those for fewer cards last."""
    cards, total = fleet.count, fleet.num_cards
    yield cards, fleet.nodes
    yield total, 1
    for tp in range(cards, 0, -1):
        if cards % tp == 0:
            yield tp, total // tp
    for tp in range(cards - 1, 0, -1):
        yield tp, 1


def attention_replicas(arch: Arch, world: int) -> Layout | None:
    """Data-parallel attention with whole experts per rank, where copies of the latent cache make it worth it."""
    if world > 1 and is_latent(arch) and arch.has_experts:
        return Layout(tp=1, dp=world, ep=True)
    return None
