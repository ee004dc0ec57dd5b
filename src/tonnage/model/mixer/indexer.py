"""The small scorer that picks which tokens a sparse attention reads; it has a key cache of its own."""

from __future__ import annotations

from tonnage.model.tensor import Tensor, vector
from tonnage.value import value


@value
class Indexer:
    """`heads` scoring heads of width `dim`; keeps one key of `dim` per token (per compressed entry) of its layer.

    `topk` is the number of tokens, or blocks, selected. `pool` tokens share one key (4 in GLM 5.3 Flash).
    """

    heads: int
    dim: int
    topk: int
    pool: int = 1


def token_indexer_tensors(indexer: Indexer, hidden: int, query_rank: int, name: str) -> tuple[Tensor, ...]:
    """Selector of DeepSeek sparse attention beside the attention `name`; engines keep it whole on each rank.

    Its queries come from the attention's low-rank query of `query_rank`. Key projection and head weights stay in the
    model's dtype because engines merge them into one matrix; the key norm is a LayerNorm in 32 bits.
    """
    # Every rank selects for all heads, so nothing here is divided.
    prefix = f"{name}.indexer"
    return (
        Tensor(f"{prefix}.wq_b", indexer.heads * indexer.dim, query_rank),
        Tensor(f"{prefix}.wk", indexer.dim, hidden, kind="plain", fused="wk_weights_proj"),
        Tensor(f"{prefix}.weights_proj", indexer.heads, hidden, kind="plain", fused="wk_weights_proj"),
        vector(f"{prefix}.k_norm", indexer.dim, dtype="float32"),
        vector(f"{prefix}.k_norm.bias", indexer.dim, dtype="float32"),
    )


def block_indexer_tensors(indexer: Indexer, hidden: int, name: str) -> tuple[Tensor, ...]:
    """Selector of blocks beside grouped-query attention (MiniMax M3): queries per head, one key, a norm on each."""
    return (
        Tensor(f"{name}.index_q_proj", indexer.heads * indexer.dim, hidden, "kv", units=indexer.heads),
        Tensor(f"{name}.index_k_proj", indexer.dim, hidden),
        vector(f"{name}.index_q_norm", indexer.dim),
        vector(f"{name}.index_k_norm", indexer.dim),
    )
