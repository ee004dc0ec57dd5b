"""How the tensors of a model are divided for one rank."""

from __future__ import annotations

from tonnage.layout.shard import cut
from tonnage.layout.stages import experts_on_rank
from tonnage.layout.widths import width_of
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.parts import Piece
    from tonnage.layout.shard import Shard
    from tonnage.layout.widths import Widths


@value
class Division:
    """Widths, the copies of experts made for balance, and the rank's place among those that share experts."""

    widths: Widths
    redundant_experts: int
    ep_rank: int

    def shard(self, piece: Piece) -> Shard:
        """The part of `piece` on the rank, whole experts counted first; LayoutError where it does not divide."""
        widths = self.widths
        if piece.group != "experts":
            return cut(piece.tensor, width_of(piece.group, widths))
        total = piece.tensor.copies + (self.redundant_experts if widths.moe_ep > 1 else 0)
        return cut(piece.tensor, widths.moe_tp, experts_on_rank(total, widths.moe_ep, self.ep_rank))
