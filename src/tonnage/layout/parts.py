"""A model's tensors with their storage formats, grouped so that equal layers are weighed once."""

from __future__ import annotations

from tonnage.model.quantization.match import format_of, is_numbered
from tonnage.model.tensors import embedding_tensor, ffn_tensors, head_tensors, mixer_tensors
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from tonnage.model.arch import Arch, Layer
    from tonnage.model.quantization.scheme import Format
    from tonnage.model.tensor import Tensor

    Group = Literal["attention", "dense", "experts", "shared", "embedding", "head", "tower", "lookup", "plain"]


@value
class Piece:
    """One tensor, how it is stored (None: the model's dtype) and which ranks share it."""

    tensor: Tensor
    format: Format | None
    group: Group


class Pieces(tuple["Piece", ...]):
    """Pieces that stand together, compared by identity: what is worked out for them is kept under them."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@value
class Parts:
    """Pieces of the whole model. Compared by identity: what is worked out for a model is kept under it.

    `classes` are the distinct layers; `class_of[i]` says which one layer `i` is.
    `first` stands on the first pipeline stage, `last` on the last one (final norm, head), `embedding` on whichever
    stage an engine puts it; `towers` on all of them, since engines build the encoder with every part of the model.
    """

    arch: Arch
    classes: tuple[Pieces, ...]
    class_of: tuple[int, ...]
    towers: Pieces
    first: Pieces
    last: Pieces
    embedding: Pieces
    draft: Pieces

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


def gather_parts(arch: Arch) -> Parts:
    """All pieces of `arch`; layers with equal tensors and formats share one class."""
    known: dict[tuple[Piece, ...], int] = {}
    # By identity: `read_arch` makes equal layers one object, and hashing a layer costs more than making its pieces.
    numbers: dict[int, int | None] = {}
    distinct = {id(layer): layer for layer in arch.layers}
    tensors = {key: _layer_tensors(layer, arch.hidden) for key, layer in distinct.items()}
    class_of = []
    for index, layer in enumerate(arch.layers):
        number = numbers.get(id(layer))
        if number is None:
            prefix = f"{arch.prefix}layers.{index}."
            number = known.setdefault(_stored(arch, prefix, tensors[id(layer)]), len(known))
            numbers[id(layer)] = None if _is_numbered(arch, prefix, tensors[id(layer)]) else number
        class_of.append(number)
    encoders = [tensor for tower in arch.towers for tensor in tower.tensors]
    return Parts(
        arch,
        tuple(map(Pieces, known)),
        tuple(class_of),
        towers=_outer(arch, encoders, "tower"),
        first=_outer(arch, arch.outer, "plain"),
        last=Pieces((*_outer(arch, arch.norms, "plain"), *_outer(arch, head_tensors(arch), "head"))),
        embedding=_outer(arch, [embedding_tensor(arch)], "embedding"),
        draft=_draft(arch),
    )


def _is_numbered(arch: Arch, prefix: str, tensors: list[tuple[Tensor, Group]]) -> bool:
    """Whether the same layer at another place may be stored in another way."""
    scheme = arch.scheme
    if scheme is None:
        return False
    return any(_may_be_quantised(tensor) and is_numbered(scheme, prefix + tensor.name) for tensor, _ in tensors)


def _layer_tensors(layer: Layer, hidden: int) -> list[tuple[Tensor, Group]]:
    found: list[tuple[Tensor, Group]] = []
    for mixer in layer.mixers:
        found.extend((t, "attention") for t in mixer_tensors(mixer, hidden))
    for ffn in layer.ffns:
        found.extend((t, _ffn_group(t)) for t in ffn_tensors(ffn, hidden))
    # A table inside a layer is looked up by n-grams, row by row, and may live far from the arithmetic.
    found.extend((t, "lookup" if t.kind == "embedding" else "plain") for t in layer.extras)
    return found


def _ffn_group(tensor: Tensor) -> Group:
    if tensor.is_expert:
        return "experts"
    return "shared" if ".shared_expert" in f".{tensor.name}" else "dense"


def _stored(arch: Arch, prefix: str, tensors: list[tuple[Tensor, Group]]) -> tuple[Piece, ...]:
    return tuple(Piece(t, _format(arch, prefix + t.name, t), group) for t, group in tensors)


def _format(arch: Arch, name: str, tensor: Tensor) -> Format | None:
    return format_of(arch.scheme, name) if arch.scheme is not None and _may_be_quantised(tensor) else None


def _may_be_quantised(tensor: Tensor) -> bool:
    return tensor.kind != "plain" and tensor.dtype is None


def _outer(arch: Arch, tensors: Iterable[Tensor], group: Group) -> Pieces:
    """Tensors outside the layers, whose names are whole paths."""
    return Pieces(Piece(tensor, _format(arch, tensor.name, tensor), group) for tensor in tensors)


def _draft(arch: Arch) -> Pieces:
    found: list[Piece] = []
    for offset, layer in enumerate(arch.draft):
        prefix = f"{arch.prefix}layers.{len(arch.layers) + offset}."
        found.extend(_stored(arch, prefix, _layer_tensors(layer, arch.hidden)))
    return Pieces(found)
