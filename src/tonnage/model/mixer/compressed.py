"""Compressed attention of DeepSeek V4: a shared K=V vector, a short raw window, and compressed entries."""

from __future__ import annotations

from tonnage.model.tensor import Tensor, vector
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.mixer.indexer import Indexer

# Entries of this ratio overlap their neighbours, so that both projections of the compressor are twice as wide
# (DeepSeek V4's own code and vLLM deepseek_v4/compressor.py).
OVERLAP_RATIO = 4


@value
class Compressed:
    """One vector of `head_dim` serves as key and value of all heads.

    `ratio` tokens become one cached entry (0: window only); the last `window` tokens are kept raw.
    `owns_kv` is False where the layer reads another layer's entries (DeepSeek V4.1).
    `o_groups` groups of output heads pass through a rank `o_lora_rank` projection.
    `shares_latent` marks DeepSeek V4.1: index keys are projected from the layer's own entries, the compressor has no
    table of positions, and a layer without entries has no index keys either.
    """

    heads: int
    head_dim: int
    rope_dim: int
    q_lora_rank: int
    o_lora_rank: int
    o_groups: int
    ratio: int
    window: int
    indexer: Indexer | None = None
    owns_kv: bool = True
    shares_latent: bool = False
    name: str = "self_attn"


def compressed_tensors(mixer: Compressed, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one compressed attention of residual width `hidden`, under the checkpoint's names.

    Down projections, compressor and indexer stand whole on every rank; heads and output groups divide.
    """
    return (*_attention(mixer, hidden), *_compressor(mixer, hidden), *_indexer(mixer, hidden))


def _attention(mixer: Compressed, hidden: int) -> tuple[Tensor, ...]:
    name, rank, groups = mixer.name, mixer.q_lora_rank, mixer.o_groups
    width, out = mixer.heads * mixer.head_dim, groups * mixer.o_lora_rank
    return (
        Tensor(f"{name}.wq_a", rank, hidden, fused="fused_wqa_wkv"),
        Tensor(f"{name}.wkv", mixer.head_dim, hidden, fused="fused_wqa_wkv"),
        vector(f"{name}.q_norm", rank),
        vector(f"{name}.kv_norm", mixer.head_dim),
        Tensor(f"{name}.wq_b", width, rank, "rows", units=mixer.heads),
        Tensor(f"{name}.wo_a", out, width // groups, "rows", units=groups),
        Tensor(f"{name}.wo_b", hidden, out, "cols", units=groups),
        vector(f"{name}.attn_sink", mixer.heads, "rows", mixer.heads, "float32"),
    )


def _compressor(mixer: Compressed, hidden: int) -> tuple[Tensor, ...]:
    if not mixer.ratio or not mixer.owns_kv:
        return ()
    return _pool(f"{mixer.name}.compressor", mixer, mixer.head_dim, hidden)


def _pool(name: str, mixer: Compressed, dim: int, hidden: int) -> tuple[Tensor, ...]:
    """The matrices that pool `ratio` tokens into one entry of `dim`; engines do not quantise them."""
    width = dim * (2 if mixer.ratio == OVERLAP_RATIO else 1)
    tensors = [Tensor(f"{name}.wkv", width, hidden, kind="plain", fused="fused_wkv_wgate"), vector(f"{name}.norm", dim)]
    if mixer.ratio > 1:
        tensors.append(Tensor(f"{name}.wgate", width, hidden, kind="plain", fused="fused_wkv_wgate"))
    if not mixer.shares_latent:
        tensors.append(Tensor(f"{name}.ape", mixer.ratio, width, kind="plain", dtype="float32"))
    return tuple(tensors)


def _indexer(mixer: Compressed, hidden: int) -> tuple[Tensor, ...]:
    index = mixer.indexer
    if index is None:
        return ()
    name = f"{mixer.name}.indexer"
    tensors = (
        Tensor(f"{name}.wq_b", index.heads * index.dim, mixer.q_lora_rank),
        Tensor(f"{name}.weights_proj", index.heads, hidden, kind="plain"),
    )
    if not mixer.shares_latent:
        return (*tensors, *_pool(f"{name}.compressor", mixer, index.dim, hidden))
    if not mixer.owns_kv:
        return tensors
    return (
        *tensors,
        Tensor(f"{name}.wk", index.dim, mixer.head_dim, kind="plain"),
        vector(f"{name}.k_norm", index.dim),
    )
