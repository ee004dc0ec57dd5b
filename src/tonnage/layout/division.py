"""How the tensors of a model are divided for one rank."""

from __future__ import annotations

from tonnage.kept import kept
from tonnage.layout.shard import cut
from tonnage.layout.stages import experts_on_rank
from tonnage.layout.widths import width_of
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.parts import Piece, Pieces
    from tonnage.layout.shard import Shard
    from tonnage.layout.widths import Widths

SETS_KEPT = 1 << 14  # sets of pieces, each under the ways to divide it that a long batch asks for


@value
class Division:
    """Widths, the copies of experts made for balance, and the rank's place among those that share experts."""

    widths: Widths
    redundant_experts: int
    ep_rank: int

    def shards(self, pieces: Pieces) -> tuple[Shard, ...]:
        """The parts of `pieces` on the rank, in order; kept, because weights, padding and loading all ask for them."""
        return _cut_all(self, pieces)

    def shard(self, piece: Piece) -> Shard:
        """The part of `piece` on the rank, whole experts counted first; LayoutError where it does not divide."""
        widths = self.widths
        if piece.group != "experts":
            return cut(piece.tensor, width_of(piece.group, widths))
        total = piece.tensor.copies + (self.redundant_experts if widths.moe_ep > 1 else 0)
        return cut(piece.tensor, widths.moe_tp, experts_on_rank(total, widths.moe_ep, self.ep_rank))


@kept(SETS_KEPT)
def _cut_all(division: Division, pieces: Pieces) -> tuple[Shard, ...]:
    return tuple(map(division.shard, pieces))
