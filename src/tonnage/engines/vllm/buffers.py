"""What vLLM keeps on a rank beside the parameters: rotary tables, cache scales, absorbed latent projections."""

from __future__ import annotations

from tonnage.engines.vllm.kv_types import compute_dtype
from tonnage.memory.rank_view import RankView
from tonnage.model.dtypes import element_bytes
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

# Four fp32 scalars per attention layer: k, v, q and probability scales (vLLM `layers/attention` `set_default_quant_scales`).
SCALES_PER_ATTENTION = 4
FLOAT32_BYTES = 4
INT32_BYTES = 4
ABSORBED_BYTES = 2  # the absorbed matrices are kept in 16 bit (vLLM `layers/attention/mla_attention.py`)


def rope_bytes(view: RankView) -> int:
    """Rotary tables; every pipeline stage has its own copy of each distinct one."""
    arch = view.parts.arch
    dtype = compute_dtype(arch.dtype)
    return sum(rope.positions * rope.dim * element_bytes(rope.dtype or dtype) for rope in arch.ropes)


def scale_bytes(view: RankView) -> int:
    """Cache and query scales, kept even when the cache is not quantised."""
    attention = sum(isinstance(mixer, Gqa | Mla) for mixer in view.mixers)
    return attention * SCALES_PER_ATTENTION * FLOAT32_BYTES


def expert_map_bytes(view: RankView) -> int:
    """Where each expert lives, one int32 per expert and layer, kept under expert parallelism."""
    if view.widths.moe_ep == 1:
        return 0
    layers = (view.parts.arch.layers[index] for index in view.layers)
    return sum(ffn.experts * INT32_BYTES for layer in layers for ffn in layer.ffns if isinstance(ffn, Moe))


def unused_value_bytes(view: RankView) -> int:
    """Value projections created although the layer takes its keys for values (vLLM `models/gemma4.py`)."""
    size, hidden = element_bytes(compute_dtype(view.parts.arch.dtype)), view.parts.arch.hidden
    shared = (mixer for mixer in view.mixers if isinstance(mixer, Gqa) and mixer.shared_k)
    return sum(max(1, m.kv_heads // view.widths.attention) * m.v_head_dim * hidden * size for m in shared)


def absorbed_bytes(view: RankView) -> int:
    """The two matrices per latent layer that fold the KV up-projection into queries and outputs.

    They are made after loading from `kv_b_proj`, which stays: heads x latent x (nope + v) values of 16 bit.
    """
    return sum(
        mixer.heads // view.widths.attention * mixer.kv_lora_rank * (mixer.nope_dim + mixer.v_dim) * ABSORBED_BYTES
        for mixer in view.mixers
        if isinstance(mixer, Mla)
    )
