"""The largest moment while weights are loaded."""

from __future__ import annotations

from tonnage.engines.vllm.kv_types import compute_dtype
from tonnage.engines.vllm.version import Version
from tonnage.kept import kept
from tonnage.memory.weights import weigh
from tonnage.model.dtypes import element_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.division import Division
    from tonnage.layout.parts import Parts, Piece
    from tonnage.layout.shard import Shard
    from tonnage.memory.rank_view import RankView

FIRST_WITH_LAYERWISE_QUANTISATION = Version(0, 18)  # parameters on the meta device, made and quantised layer by layer

DIVISIONS_KEPT = 1024  # of the models of a long batch


def load_peak_bytes(version: Version, view: RankView, weights_bytes: int) -> int:
    """Weights are filled in place, so the peak is their final size and one tensor.

    Online quantisation first holds the model in 16 bit (before 0.18), or one layer of it.
    """
    arch = view.parts.arch
    if arch.scheme is not None and arch.scheme.is_online:
        if version < FIRST_WITH_LAYERWISE_QUANTISATION:
            return max(weights_bytes, _full_bytes(view))
        return weights_bytes + _full_bytes(view) // max(1, len(view.layers))
    size = element_bytes(compute_dtype(arch.dtype))
    return weights_bytes + _largest_tensor(view.parts, view.division) * size


def _full_bytes(view: RankView) -> int:
    """Bytes of the rank's parameters before quantisation."""
    size = element_bytes(compute_dtype(view.parts.arch.dtype))

    def whole(piece: Piece, shard: Shard) -> int:  # noqa: ARG001
        return shard.params * size

    return weigh(view, whole).total


@kept(DIVISIONS_KEPT)
def _largest_tensor(parts: Parts, division: Division) -> int:
    """Elements of the largest single tensor of one checkpoint shard, as it passes through the host to the card."""
    pairs = (pair for pieces in parts.classes for pair in zip(pieces, division.shards(pieces), strict=True))
    return max((shard.rows * shard.cols for piece, shard in pairs if piece.group != "lookup"), default=0)
