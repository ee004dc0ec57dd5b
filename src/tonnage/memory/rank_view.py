"""One rank as the memory formulas see it."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Parts
    from tonnage.layout.widths import Widths
    from tonnage.memory.serving import Serving
    from tonnage.model.arch import Mixer


@value
class RankView:
    """Rank number `rank`, holding `layers` of the model; `ep_rank` is its place among the ranks that share experts.

    `has_embedding` and `has_head` say whether the engine creates those tables on the rank.
    """

    rank: int
    parts: Parts
    layout: Layout
    widths: Widths
    layers: range
    is_first: bool
    is_last: bool
    has_embedding: bool
    has_head: bool
    ep_rank: int
    card: Accelerator
    card_bytes: int
    serving: Serving

    @property
    def mixers(self) -> tuple[Mixer, ...]:
        """The mixers of the layers on this rank, in order."""
        return tuple(m for index in self.layers for m in self.parts.arch.layers[index].mixers)
