"""Configuration keys of n-gram tables beside a decoder layer (DeepSeek V4.1 Engram)."""

from __future__ import annotations

from tonnage.model.config.keys import LAYERS_MAX, SIZE_MAX, hidden_size
from tonnage.model.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config

TABLE_ROWS_MAX = 8 * SIZE_MAX
NGRAM_MAX = 64
# Rows are stored in 8 bits with one exponent byte per this many values (vLLM deepseek_v41/common/engram.py).
SCALE_BLOCK = 32
ROW_DTYPE = "float8_e4m3fn"


def engram_tensors(cfg: Config, index: int, streams: int) -> tuple[Tensor, ...]:
    """The table of layer `index` and the projection of what it yields; empty for a layer without one.

    Hash heads divide among ranks, one head at a time; rows that do not fill all heads evenly stand on every rank.
    """
    layers = cfg.ints("engram_layer_ids", most=LAYERS_MAX) or ()
    if index not in layers:
        return ()
    heads = (cfg.int("engram_max_ngram_size", least=2, most=NGRAM_MAX) - 1) * cfg.int("engram_n_heads")
    dim, hidden = cfg.int("engram_head_dim"), hidden_size(cfg)
    return (
        *_table(_rows(cfg, layers.index(index)), heads, dim),
        Tensor("engram.wkv", hidden * (streams + 1), heads * dim, "rows"),
        Tensor("engram.q_weight", streams, hidden, kind="plain"),
        Tensor("engram.k_weight", streams, hidden, kind="plain"),
    )


def _rows(cfg: Config, position: int) -> int:
    rows = cfg.ints("engram_num_embeddings", least=1, most=TABLE_ROWS_MAX) or ()
    if position >= len(rows):
        raise cfg.unknown("engram_num_embeddings", f"{len(rows)} entries", "one entry for each of engram_layer_ids")
    return rows[position]


def _table(rows: int, heads: int, dim: int) -> tuple[Tensor, ...]:
    per_head, left = divmod(rows, heads)
    name, scales = "engram.embed", -(-dim // SCALE_BLOCK)
    rest = (Tensor(name, left, dim, kind="embedding", dtype=ROW_DTYPE),) if left else ()
    return (
        Tensor(name, heads, per_head * dim, "rows", "embedding", heads, dtype=ROW_DTYPE),
        *rest,
        Tensor(f"{name}.scale", heads, per_head * scales, "rows", "embedding", heads, dtype="uint8", is_counted=False),
    )
