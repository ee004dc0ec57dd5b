"""All parameter tensors of a layer, and of what stands outside the layers."""

from __future__ import annotations

from tonnage.model.ffn.dense import Dense, dense_tensors
from tonnage.model.ffn.moe import moe_tensors
from tonnage.model.mixer.compressed import Compressed, compressed_tensors
from tonnage.model.mixer.deltanet import DeltaNet, deltanet_tensors
from tonnage.model.mixer.gqa import Gqa, gqa_tensors
from tonnage.model.mixer.kda import Kda, kda_tensors
from tonnage.model.mixer.mamba import Mamba1, mamba1_tensors, mamba2_tensors
from tonnage.model.mixer.mla import Mla, mla_tensors
from tonnage.model.tensor import Tensor, vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Arch, Ffn, Layer, Mixer


def layer_tensors(layer: Layer, hidden: int) -> tuple[Tensor, ...]:
    """Every tensor of one layer of residual width `hidden`: mixers, feed-forward parts, extras."""
    mixers = (tensor for mixer in layer.mixers for tensor in mixer_tensors(mixer, hidden))
    ffns = (tensor for part in layer.ffns for tensor in ffn_tensors(part, hidden))
    return (*mixers, *ffns, *layer.extras)


def mixer_tensors(mixer: Mixer, hidden: int) -> tuple[Tensor, ...]:
    """The tensors of one mixer of any kind."""
    match mixer:
        case Gqa():
            return gqa_tensors(mixer, hidden)
        case Mla():
            return mla_tensors(mixer, hidden)
        case Compressed():
            return compressed_tensors(mixer, hidden)
        case DeltaNet():
            return deltanet_tensors(mixer, hidden)
        case Kda():
            return kda_tensors(mixer, hidden)
        case Mamba1():
            return mamba1_tensors(mixer, hidden)
        case _:
            return mamba2_tensors(mixer, hidden)


def ffn_tensors(part: Ffn, hidden: int) -> tuple[Tensor, ...]:
    """The tensors of one feed-forward part of either kind."""
    return dense_tensors(part, hidden) if isinstance(part, Dense) else moe_tensors(part, hidden)


def embedding_tensor(arch: Arch) -> Tensor:
    """The input embedding."""
    return Tensor(f"{arch.prefix}embed_tokens", arch.vocab, arch.hidden, "vocab", "embedding")


def head_tensors(arch: Arch) -> tuple[Tensor, ...]:
    """The output head, empty when the embedding serves as one, and its bias."""
    # A text model nested as `language_model.` keeps its head inside.
    name = f"{arch.prefix.removesuffix('model.') if arch.prefix.endswith('.model.') else ''}lm_head"
    head = () if arch.tied else (Tensor(name, arch.vocab, arch.hidden, "vocab", "embedding"),)
    return (*head, vector(f"{name}.bias", arch.vocab, "vocab")) if arch.head_bias else head


def outer_tensors(arch: Arch) -> tuple[Tensor, ...]:
    """Everything outside the layers: embedding, head unless tied, norms, tables."""
    return (embedding_tensor(arch), *head_tensors(arch), *arch.norms, *arch.outer)
