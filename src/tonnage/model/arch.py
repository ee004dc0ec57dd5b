"""What a model is: its layers in order, each a mixer and a feed-forward part, and what surrounds them."""

from __future__ import annotations

from tonnage.model.ffn.moe import Moe
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.ffn.dense import Dense
    from tonnage.model.mixer.compressed import Compressed
    from tonnage.model.mixer.deltanet import DeltaNet
    from tonnage.model.mixer.gqa import Gqa
    from tonnage.model.mixer.kda import Kda
    from tonnage.model.mixer.mamba import Mamba1, Mamba2
    from tonnage.model.mixer.mla import Mla
    from tonnage.model.quantization.scheme import Scheme
    from tonnage.model.tensor import Tensor

    Mixer = Gqa | Mla | Compressed | DeltaNet | Kda | Mamba1 | Mamba2
    Ffn = Dense | Moe

MODELS_KEPT = 256  # of a long batch


@value
class Layer:
    """One decoder layer. LongCat has two mixers and two dense parts in one layer; Nemotron-H has only one part.

    `extras` are the layer's norms and whatever belongs to no part (hyper-connections, per-layer projections).
    """

    mixers: tuple[Mixer, ...]
    ffns: tuple[Ffn, ...]
    extras: tuple[Tensor, ...] = ()


@value
class Rope:
    """A rotary table the engines keep per rank: `positions` x `dim` elements (cosines and sines together)."""

    positions: int
    dim: int
    dtype: str | None = None


@value
class Tower:
    """A vision or audio encoder with its projector. Its tensors follow the same split rules as the decoder's.

    `layers` is the number of encoder blocks; `hidden` its width; `max_tokens` the tokens of one item, if known.
    `kind` ends in "(approximate)" where the tensors are an estimate.
    """

    kind: str
    layers: int
    hidden: int
    tensors: tuple[Tensor, ...]
    max_tokens: int | None = None


@value
class Arch:
    """A whole model. Sizes are in elements; `dtype` is the checkpoint's compute type.

    `prefix` is what stands before `layers.N.` in the checkpoint's tensor names (`model.`, `model.language_model.`).
    `draft` are multi-token-prediction layers, which the engines load only for speculative decoding.
    `outer` are tensors outside the layers other than embedding, head and final norm (learned positions,
    per-layer embeddings, n-gram tables).
    `duplicates` is the number of parameters the published checkpoint stores twice (MTP copies of embedding
    and head, untied copies of a tied head); they count in the checkpoint's total, not in the loaded model.
    """

    family: str
    architectures: tuple[str, ...]
    hidden: int
    vocab: int
    tied: bool
    max_context: int
    dtype: str
    layers: tuple[Layer, ...]
    prefix: str = "model."
    norms: tuple[Tensor, ...] = ()
    outer: tuple[Tensor, ...] = ()
    towers: tuple[Tower, ...] = ()
    draft: tuple[Layer, ...] = ()
    ropes: tuple[Rope, ...] = ()
    scheme: Scheme | None = None
    kv_dtype: str | None = None
    duplicates: int = 0
    head_bias: bool = False
    notes: tuple[str, ...] = ()

    @property
    def has_experts(self) -> bool:
        """Whether some layer routes to experts."""
        return any(isinstance(part, Moe) for layer in self.kinds for part in layer.ffns)

    @property
    def mixers(self) -> tuple[Mixer, ...]:
        """The mixers of the distinct layers, in order of first appearance."""
        return tuple(mixer for layer in self.kinds for mixer in layer.mixers)

    def has_mixer(self, kinds: type | tuple[type, ...]) -> bool:
        """Whether some layer has a mixer of one of these kinds."""
        return any(isinstance(mixer, kinds) for mixer in self.mixers)

    @property
    def kinds(self) -> tuple[Layer, ...]:
        """The distinct layers in order of first appearance; a few equal ones may be among them."""
        kept = _kinds.get(id(self.layers))
        if kept is None:
            if len(_kinds) >= MODELS_KEPT:
                _kinds.clear()
            # By identity: `read_arch` makes equal layers one object, and hashing layers is slow.
            kinds = tuple({id(layer): layer for layer in self.layers}.values())
            # The layers are kept too, hence an id is never that of others.
            kept = _kinds[id(self.layers)] = (self.layers, kinds)
        return kept[1]


_kinds: dict[int, tuple[tuple[Layer, ...], tuple[Layer, ...]]] = {}
