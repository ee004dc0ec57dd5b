"""The largest moment while weights are loaded."""

from __future__ import annotations

from tonnage.engines.vllm.kv_types import compute_dtype
from tonnage.engines.vllm.version import Version
from tonnage.kept import kept
from tonnage.memory.weights import plain_bytes
from tonnage.model.dtypes import element_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.division import Division
    from tonnage.layout.parts import Parts
    from tonnage.memory.rank_view import RankView

FIRST_WITH_LAYERWISE_QUANTISATION = Version(0, 18)  # parameters on the meta device, made and quantised layer by layer

DIVISIONS_KEPT = 1024  # of the models of a long batch


def load_peak_bytes(version: Version, view: RankView, weights_bytes: int) -> int:
    """Weights are filled in place, so the peak is their final size and one tensor.

    Online quantisation first holds the model in 16 bit (before 0.18), or one layer of it.
    """
    arch = view.parts.arch
    size = element_bytes(compute_dtype(arch.dtype))
    if arch.scheme is not None and arch.scheme.is_online:
        whole = plain_bytes(view, size)
        if version < FIRST_WITH_LAYERWISE_QUANTISATION:
            return max(weights_bytes, whole)
        return weights_bytes + whole // max(1, len(view.layers))
    return weights_bytes + _largest_tensor(view.parts, view.division) * size


@kept(DIVISIONS_KEPT)
def _largest_tensor(parts: Parts, division: Division) -> int:
    """Elements of the largest single tensor of one checkpoint shard, as it passes through the host to the card."""
    pairs = (pair for pieces in parts.classes for pair in zip(pieces, division.shards(pieces), strict=True))
    return max((shard.rows * shard.cols for piece, shard in pairs if piece.group != "lookup"), default=0)
