"""Weight bytes of one rank: the sum over its pieces, each cut and stored as the engine does it."""

from __future__ import annotations

from tonnage.kept import kept
from tonnage.layout.division import SETS_KEPT
from tonnage.tally import tally
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tonnage.layout.division import Division
    from tonnage.layout.parts import Group, Piece, Pieces
    from tonnage.layout.shard import Shard
    from tonnage.memory.rank_view import RankView

    Store = Callable[[Piece, Shard], int]


@value
class Weighed:
    """Bytes by group of tensors."""

    by_group: dict[Group, int]

    @property
    def total(self) -> int:
        """All bytes of the rank's parameters."""
        return sum(self.by_group.values())


def weigh(view: RankView, store: Store) -> Weighed:
    """Parameter bytes on the rank; `store` gives the bytes of one shard, padding included.

    A tied embedding stands on both ends of a pipeline, once when there is a single stage.
    """
    totals: dict[Group, int] = {}
    division = view.division
    for pieces, count in held_pieces(view):
        for group, size in _sizes(pieces, division, store).items():
            totals[group] = totals.get(group, 0) + count * size
    return Weighed(totals)


def held_pieces(view: RankView) -> Iterator[tuple[Pieces, int]]:
    """The pieces of the rank, layer class by layer class, and how many times each group stands there."""
    parts = view.parts
    for number, count in tally(parts.class_of[view.layers.start : view.layers.stop]).items():
        yield parts.classes[number], count
    yield parts.towers, 1
    if view.is_first:
        yield parts.first, 1
    if view.has_embedding or (parts.arch.tied and view.has_head):
        yield parts.embedding, 1
    if view.has_head:
        yield parts.last, 1


def plain_bytes(view: RankView, element: int) -> int:
    """Parameter bytes on the rank if each took `element` bytes: a model before it is quantised."""
    division = view.division
    shards = ((shard, count) for pieces, count in held_pieces(view) for shard in division.shards(pieces))
    return element * sum(count * shard.params for shard, count in shards)


def draft_bytes(view: RankView, store: Store) -> int:
    """Bytes of the multi-token-prediction layers, which stand on the last stage."""
    return sum(_sizes(view.parts.draft, view.division, store).values()) if view.is_last else 0


# Ranks, stages, remedies and questions of a batch ask for the same again.
@kept(SETS_KEPT)
def _sizes(pieces: Pieces, division: Division, store: Store) -> Mapping[Group, int]:
    totals: dict[Group, int] = {}
    for piece, shard in zip(pieces, division.shards(pieces), strict=True):
        totals[piece.group] = totals.get(piece.group, 0) + store(piece, shard)
    return totals
