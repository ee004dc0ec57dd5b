"""Weight bytes of one rank: the sum over its pieces, each cut and stored as the engine does it."""

from __future__ import annotations

from collections import Counter

from tonnage.layout.shard import cut
from tonnage.layout.stages import experts_on_rank
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tonnage.layout.parts import Group, Piece
    from tonnage.layout.shard import Shard
    from tonnage.layout.widths import Widths
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
    arch = view.parts.arch
    totals: Counter[Group] = Counter()
    per_class = Counter(view.parts.class_of[index] for index in view.layers)
    for number, count in per_class.items():
        _add(totals, view, view.parts.classes[number], store, count)
    _add(totals, view, view.parts.towers, store)
    if view.is_first:
        _add(totals, view, view.parts.first, store)
    if view.has_embedding or (arch.tied and view.has_head):
        _add(totals, view, view.parts.embedding, store)
    if view.has_head:
        _add(totals, view, view.parts.last, store)
    return Weighed(dict(totals))


def draft_bytes(view: RankView, store: Store) -> int:
    """Bytes of the multi-token-prediction layers, which stand on the last stage."""
    totals: Counter[Group] = Counter()
    if view.is_last:
        _add(totals, view, view.parts.draft, store)
    return sum(totals.values())


def _add(totals: Counter[Group], view: RankView, pieces: Iterable[Piece], store: Store, count: int = 1) -> None:
    for piece in pieces:
        totals[piece.group] += count * store(piece, shard_of(piece, view))


def shard_of(piece: Piece, view: RankView) -> Shard:
    """The part of `piece` on the rank, whole experts counted first."""
    if piece.group != "experts":
        return cut(piece.tensor, width_of(piece.group, view.widths))
    total = piece.tensor.copies + (view.layout.redundant_experts if view.widths.moe_ep > 1 else 0)
    held = experts_on_rank(total, view.widths.moe_ep, view.ep_rank)
    return cut(piece.tensor, view.widths.moe_tp, held)


def width_of(group: Group, widths: Widths) -> int:
    """Ranks among which a tensor of `group` is cut."""
    return {
        "attention": widths.attention,
        "dense": widths.dense,
        "experts": widths.moe_tp,
        "shared": widths.shared,
        "embedding": widths.embedding,
        "head": widths.head,
        "tower": widths.tower,
        "lookup": widths.dense,
        "plain": widths.dense,
    }[group]
