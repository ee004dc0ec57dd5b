"""The largest moment while SGLang loads weights."""

from __future__ import annotations

from tonnage.engines.sglang.stored import compute_dtype
from tonnage.memory.weights import plain_bytes
from tonnage.model.dtypes import element_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.memory.rank_view import RankView
    from tonnage.memory.weights import Store


def load_peak_bytes(view: RankView, weights_bytes: int, store: Store) -> int:
    """Weights are filled in place and repacked layer by layer: their final size and one tensor of all experts.

    Online quantisation first loads the whole model in 16 bit (SGLang `model_loader/loader.py`).
    """
    arch = view.parts.arch
    if arch.scheme is not None and arch.scheme.is_online:
        return max(weights_bytes, plain_bytes(view, element_bytes(compute_dtype(arch.dtype))))
    pairs = (zip(pieces, view.division.shards(pieces), strict=True) for pieces in view.parts.classes)
    return weights_bytes + max((store(piece, shard) for pair in pairs for piece, shard in pair), default=0)
