"""One rank as the memory formulas see it."""

from __future__ import annotations

from tonnage.kept import kept
from tonnage.layout.division import Division
from tonnage.tally import tally
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.catalog.accelerator import Accelerator
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Parts
    from tonnage.layout.widths import Widths
    from tonnage.memory.serving import Serving
    from tonnage.model.arch import Mixer

STAGES_KEPT = 1024  # pipeline stages of the models of a long batch


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
    def division(self) -> Division:
        """How tensors are divided for the rank."""
        return Division(self.widths, self.layout.redundant_experts, self.ep_rank)

    @property
    def mixers(self) -> tuple[Mixer, ...]:
        """The mixers of the layers on this rank, in order, without those of draft layers."""
        return _mixers(self.parts, self.layers)

    @property
    def mixer_counts(self) -> tuple[tuple[Mixer, int], ...]:
        """The distinct mixers of the rank in order of first appearance, and how often each occurs."""
        return _mixer_counts(self.parts, self.layers)


@kept(STAGES_KEPT)
def _mixers(parts: Parts, layers: range) -> tuple[Mixer, ...]:
    return tuple(mixer for index in layers for mixer in parts.arch.layers[index].mixers)


@kept(STAGES_KEPT)
def _mixer_counts(parts: Parts, layers: range) -> tuple[tuple[Mixer, int], ...]:
    return tuple(count_equal(_mixers(parts, layers)).items())


def count_equal(mixers: Sequence[Mixer]) -> dict[Mixer, int]:
    """How often each distinct mixer occurs, in order of first appearance."""
    # First by identity: equal layers are mostly one object, and comparing mixers field by field is slow.
    objects = {id(mixer): mixer for mixer in mixers}
    counts: dict[Mixer, int] = {}
    for key, count in tally(map(id, mixers)).items():
        counts[objects[key]] = counts.get(objects[key], 0) + count
    return counts
