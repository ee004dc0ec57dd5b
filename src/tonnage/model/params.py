"""Parameter counts: in all, by part, and active per token."""

from __future__ import annotations

from tonnage.model.ffn.moe import Moe
from tonnage.model.tensors import embedding_tensor, ffn_tensors, head_tensors, layer_tensors, mixer_tensors
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Arch, Layer
    from tonnage.model.tensor import Tensor


@value
class Parts:
    """Parameters of the text model by part; they add up to its total."""

    embedding: int
    head: int
    attention: int
    dense: int
    routed_experts: int
    shared_and_router: int
    other: int


@value
class Params:
    """Parameter counts of a model.

    `text` is what an engine loads to decode; `towers` and `draft` come on top; `duplicates` stand in the checkpoint
    only. `active` counts what one token touches, lookup tables other than the embedding left out; decoding reads
    `active_without_embedding`, because the input embedding is one row (a tied table stays: it is also the head).
    """

    text: int
    towers: int
    draft: int
    duplicates: int
    active: int
    active_without_embedding: int
    parts: Parts

    @property
    def checkpoint(self) -> int:
        """Parameters that the published checkpoint holds."""
        return self.text + self.towers + self.draft + self.duplicates


def count_params(arch: Arch) -> Params:
    """Count all parameters of `arch`. A layer object that occurs several times is counted once."""
    parts = _parts(arch)
    text = _total_parts(parts)
    idle = sum(_idle(layer, arch.hidden) * times for layer, times in _distinct(arch.layers))
    active = text - idle - _lookup(arch.outer)
    return Params(
        text=text,
        towers=sum(_size(tower.tensors) for tower in arch.towers),
        draft=sum(_size(layer_tensors(layer, arch.hidden)) for layer in arch.draft),
        duplicates=arch.duplicates,
        active=active,
        active_without_embedding=active if arch.tied else active - parts.embedding,
        parts=parts,
    )


def _size(tensors: tuple[Tensor, ...]) -> int:
    return sum(tensor.params for tensor in tensors)


def _lookup(tensors: tuple[Tensor, ...]) -> int:
    # A lookup reads one row of a table, nothing next to its size.
    return sum(tensor.params for tensor in tensors if tensor.kind == "embedding")


def _distinct(layers: tuple[Layer, ...]) -> list[tuple[Layer, int]]:
    # By identity: `read_arch` makes equal layers one object, and hashing a layer costs more than counting it.
    counts: dict[int, int] = {}
    for layer in layers:
        counts[id(layer)] = counts.get(id(layer), 0) + 1
    objects = {id(layer): layer for layer in layers}
    return [(objects[key], times) for key, times in counts.items()]


def _parts(arch: Arch) -> Parts:
    attention = dense = routed = sparse = other = 0
    for layer, times in _distinct(arch.layers):
        attention += times * sum(_size(mixer_tensors(mixer, arch.hidden)) for mixer in layer.mixers)
        other += times * _size(layer.extras)
        for part in layer.ffns:
            size, experts = _size(ffn_tensors(part, arch.hidden)), _experts(part, arch.hidden)
            routed += times * experts
            sparse += times * (size - experts) * isinstance(part, Moe)
            dense += times * size * (not isinstance(part, Moe))
    outside = _size(arch.norms) + _size(arch.outer)
    embedding, head = embedding_tensor(arch).params, _size(head_tensors(arch))
    return Parts(embedding, head, attention, dense, routed, sparse, other + outside)


def _experts(part: object, hidden: int) -> int:
    if not isinstance(part, Moe):
        return 0
    return sum(tensor.params for tensor in ffn_tensors(part, hidden) if tensor.is_expert)


def _total_parts(parts: Parts) -> int:
    sparse = parts.routed_experts + parts.shared_and_router
    return parts.embedding + parts.head + parts.attention + parts.dense + sparse + parts.other


def _idle(layer: Layer, hidden: int) -> int:
    """Parameters of one layer that an average token does not touch: experts not chosen, lookup tables."""
    idle = _lookup(layer.extras)
    for part in layer.ffns:
        if isinstance(part, Moe):
            size = _experts(part, hidden)
            # Identity experts take their share of the choices and hold nothing.
            chosen = part.top_k * part.experts // (part.experts + part.identity_experts)
            idle += size - size // part.experts * min(chosen, part.experts)
            idle += part.top_k * (part.hash_rows or 0)
    return idle
