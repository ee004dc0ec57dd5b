"""Multi-head latent attention (DeepSeek V2 onward, Kimi, GLM 4.7 Flash and 5)."""

from __future__ import annotations

from tonnage.model.mixer.indexer import token_indexer_tensors
from tonnage.model.tensor import Tensor, vector
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.mixer.indexer import Indexer


@value
class Mla:
    """Latent attention: `kv_lora_rank` latent and `rope_dim` rotary values are cached per token, once for all heads.

    `q_lora_rank` None means the queries have no low-rank projection.
    `indexer` is set on layers that own a sparse indexer; `is_sparse` also on layers that reuse another's selection.
    `out_gate` adds a full-rank output gate, hidden x heads x v_dim (Kimi K3).
    """

    heads: int
    q_lora_rank: int | None
    kv_lora_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    indexer: Indexer | None = None
    is_sparse: bool = False
    out_gate: bool = False
    name: str = "self_attn"


def mla_tensors(mixer: Mla, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one latent attention of residual width `hidden`, under the checkpoint's names.

    The down projections are not divided by tensor parallelism; heads divide only after them.
    """
    tensors = [*_query(mixer, hidden), *_latent(mixer, hidden)]
    width = mixer.heads * mixer.v_dim
    if mixer.out_gate:
        tensors.append(Tensor(f"{mixer.name}.g_proj", width, hidden, "rows", units=mixer.heads))
    tensors.append(Tensor(f"{mixer.name}.o_proj", hidden, width, "cols", units=mixer.heads))
    if mixer.indexer is None:
        return tuple(tensors)
    # The selector's queries start from the attention's low-rank query.
    rank = mixer.q_lora_rank or hidden
    return (*tensors, *token_indexer_tensors(mixer.indexer, hidden, rank, mixer.name))


def _query(mixer: Mla, hidden: int) -> list[Tensor]:
    width = mixer.heads * (mixer.nope_dim + mixer.rope_dim)
    if mixer.q_lora_rank is None:
        return [Tensor(f"{mixer.name}.q_proj", width, hidden, "rows", units=mixer.heads)]
    return [
        Tensor(f"{mixer.name}.q_a_proj", mixer.q_lora_rank, hidden, fused="fused_qkv_a_proj"),
        vector(f"{mixer.name}.q_a_layernorm", mixer.q_lora_rank),
        Tensor(f"{mixer.name}.q_b_proj", width, mixer.q_lora_rank, "rows", units=mixer.heads),
    ]


def _latent(mixer: Mla, hidden: int) -> list[Tensor]:
    # Engines merge the two down projections, which exist as a pair only with a low query rank.
    fused = None if mixer.q_lora_rank is None else "fused_qkv_a_proj"
    rank, up = mixer.kv_lora_rank, mixer.heads * (mixer.nope_dim + mixer.v_dim)
    return [
        Tensor(f"{mixer.name}.kv_a_proj_with_mqa", rank + mixer.rope_dim, hidden, fused=fused),
        vector(f"{mixer.name}.kv_a_layernorm", rank),
        Tensor(f"{mixer.name}.kv_b_proj", up, rank, "rows", units=mixer.heads),
    ]
