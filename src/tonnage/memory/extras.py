"""What a service may load beside the model: its own draft layers and buffers for adapters."""

from __future__ import annotations

from tonnage.figure import exact
from tonnage.memory.weights import draft_bytes, held_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.figure import Line
    from tonnage.layout.parts import Group
    from tonnage.memory.rank_view import RankView
    from tonnage.memory.weights import Store
    from tonnage.model.arch import Mixer

ADAPTER_BYTES = 2  # adapters are kept in 16 bit
ADAPTED_GROUPS: tuple[Group, ...] = ("attention", "dense", "shared")


def extra_lines(view: RankView, store: Store) -> tuple[Line, ...]:
    """Lines for drafting and for adapters, where the service asks for them."""
    lines = []
    if view.serving.num_spec:
        lines.append(exact("draft", draft_bytes(view, store), f"{len(view.parts.arch.draft)} draft layers, last stage"))
    if view.serving.max_loras and view.serving.max_lora_rank:
        lines.append(exact("other", adapter_bytes(view), _adapter_trace(view)))
    return tuple(lines)


def draft_mixers(view: RankView) -> tuple[Mixer, ...]:
    """The mixers of the draft layers on the rank; none unless the service drafts."""
    if not (view.serving.num_spec and view.is_last):
        return ()
    return tuple(mixer for layer in view.parts.arch.draft for mixer in layer.mixers)


def adapter_bytes(view: RankView) -> int:
    """Buffers reserved for adapters: slots x rank x (input + output features) of every adapted matrix, 16 bit.

    Of each pair one half is cut like the matrix and the other stands whole on every rank
    (vLLM `lora/layers/base_linear.py`, without fully sharded adapters).
    """
    features = 0
    for pieces, count in held_pieces(view):
        shards = (view.division.shard(piece) for piece in pieces if _is_adapted(piece.group, piece.tensor.kind))
        features += count * sum(shard.rows + shard.cols for shard in shards)
    return view.serving.max_loras * (view.serving.max_lora_rank or 0) * features * ADAPTER_BYTES


def _is_adapted(group: Group, kind: str) -> bool:
    return group in ADAPTED_GROUPS and kind == "linear"


def _adapter_trace(view: RankView) -> str:
    return f"{view.serving.max_loras} adapters of rank {view.serving.max_lora_rank}"
