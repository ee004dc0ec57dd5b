"""Grouped-query attention; multi-head and multi-query attention are its special cases."""

from __future__ import annotations

from tonnage.model.mixer.indexer import block_indexer_tensors
from tonnage.model.tensor import Tensor, vector
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.model.mixer.indexer import Indexer
    from tonnage.model.tensor import Split


@value
class Gqa:
    """Softmax attention with `heads` query heads over `kv_heads` KV heads.

    `window` is a sliding window and `chunk` a chunked local window, in tokens; None means full attention.
    `qk_norm`: `head` normalises each head (2 x head_dim), `full` the whole projection.
    `out_gate`: `full` doubles the query projection (Qwen3.5), `head` adds hidden x heads (Laguna).
    `shared_k` is True where keys serve as values (Gemma 4 full layers): no value projection, K and V are still cached.
    `kv_from_layer` is set where the layer reads another layer's cache and owns none.
    `sinks` adds one learned logit per query head. `indexer` is a block-sparse selector (MiniMax M3).
    """

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    window: int | None = None
    chunk: int | None = None
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: Literal["none", "head", "full"] = "none"
    out_gate: Literal["none", "head", "full"] = "none"
    shared_k: bool = False
    kv_from_layer: int | None = None
    sinks: bool = False
    indexer: Indexer | None = None
    name: str = "self_attn"


def gqa_tensors(mixer: Gqa, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one attention of residual width `hidden`, under the checkpoint's names.

    Sizes: q hidden x heads x head_dim, k and v hidden x kv_heads x head_dim, o heads x v_head_dim x hidden.
    """
    # A layer that reads another layer's cache projects queries only.
    owns_kv = mixer.kv_from_layer is None
    tensors = [_query(mixer, hidden)]
    if owns_kv:
        tensors += _keys_values(mixer, hidden)
    width = mixer.heads * mixer.v_head_dim
    tensors.append(Tensor(f"{mixer.name}.o_proj", hidden, width, "cols", units=mixer.heads))
    tensors += _biases(mixer, hidden, owns_kv) + _norms(mixer, owns_kv) + _gates(mixer, hidden)
    indexer = block_indexer_tensors(mixer.indexer, hidden, mixer.name) if mixer.indexer else ()
    return (*tensors, *indexer)


def _query_width(mixer: Gqa) -> int:
    return mixer.heads * mixer.head_dim * (2 if mixer.out_gate == "full" else 1)


def _query(mixer: Gqa, hidden: int) -> Tensor:
    name = f"{mixer.name}.q_proj"
    return Tensor(name, _query_width(mixer), hidden, "rows", units=mixer.heads, fused="qkv_proj")


def _keys_values(mixer: Gqa, hidden: int) -> list[Tensor]:
    # Gemma 4's full layers project keys only and use them, normalised otherwise, as values.
    widths = {"k_proj": mixer.head_dim} if mixer.shared_k else {"k_proj": mixer.head_dim, "v_proj": mixer.v_head_dim}
    return [
        Tensor(f"{mixer.name}.{name}", mixer.kv_heads * dim, hidden, "kv", units=mixer.kv_heads, fused="qkv_proj")
        for name, dim in widths.items()
    ]


def _biases(mixer: Gqa, hidden: int, owns_kv: bool) -> list[Tensor]:
    biases = []
    if mixer.qkv_bias:
        biases.append(vector(f"{mixer.name}.q_proj.bias", _query_width(mixer), "rows", mixer.heads))
    if mixer.qkv_bias and owns_kv:
        biases += [
            vector(f"{tensor.name}.bias", tensor.rows, "kv", mixer.kv_heads) for tensor in _keys_values(mixer, hidden)
        ]
    if mixer.out_bias:
        biases.append(vector(f"{mixer.name}.o_proj.bias", hidden))
    return biases


def _norms(mixer: Gqa, owns_kv: bool) -> list[Tensor]:
    if mixer.qk_norm == "none":
        return []
    # A norm over the projection divides with its heads; one shared by all heads is whole on each rank.
    is_full = mixer.qk_norm == "full"
    split: Split = "rows" if is_full else "none"
    query = mixer.heads if is_full else 1
    norms = [vector(f"{mixer.name}.q_norm", query * mixer.head_dim, split, mixer.heads if is_full else None)]
    if owns_kv:
        keys = mixer.kv_heads if is_full else 1
        units = mixer.kv_heads if is_full else None
        norms.append(vector(f"{mixer.name}.k_norm", keys * mixer.head_dim, "kv" if is_full else "none", units))
    return norms


def _gates(mixer: Gqa, hidden: int) -> list[Tensor]:
    gates = []
    if mixer.out_gate == "head":
        gates.append(Tensor(f"{mixer.name}.g_proj", mixer.heads, hidden, "rows", units=mixer.heads))
    if mixer.sinks:
        gates.append(vector(f"{mixer.name}.sinks", mixer.heads, "rows", mixer.heads))
    return gates
