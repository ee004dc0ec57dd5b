"""What vLLM keeps on a rank beside the parameters: rotary tables, cache scales, absorbed latent projections."""

from __future__ import annotations

from tonnage.engines.vllm.kv_types import compute_dtype
from tonnage.engines.vllm.version import Version
from tonnage.memory.buffers import absorbed_values, table_bytes
from tonnage.model.dtypes import FLOAT32_BYTES, element_bytes
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.memory.rank_view import RankView

# Four fp32 scalars per attention layer: k, v, q and probability scales (vLLM `set_default_quant_scales`).
SCALES_PER_ATTENTION = 4
INT32_BYTES = 4
# On ROCm the loader measures the driver's free memory, so libraries and freed blocks of repacking count as weights
# (vLLM `platforms/rocm.py` get_current_memory_usage). Ten published starts on RDNA 4: 0.070 to 0.089 GiB for dense
# models, and 0 to 4.2 % of the quantised experts (seven starts of four models, median 4.0 %, mean 3.0 %).
ROCM_LIBRARY_BYTES = 75_000_000
ROCM_REPACK_SHARE = 32  # one part in so many of the quantised experts: 3.1 %, near the mean
FIRST_WITH_ALLOCATOR_VIEW = Version(0, 20)
ABSORBED_BYTES = 2  # the absorbed matrices are kept in 16 bit (vLLM `layers/attention/mla_attention.py`)


def rope_bytes(view: RankView) -> int:
    """Rotary tables; every pipeline stage has its own copy of each distinct one."""
    arch = view.parts.arch
    return table_bytes(arch, element_bytes(compute_dtype(arch.dtype)))


def scale_bytes(view: RankView) -> int:
    """Cache and query scales, kept even when the cache is not quantised."""
    attention = sum(count for mixer, count in view.mixer_counts if isinstance(mixer, Gqa | Mla))
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
    tp, shared = view.widths.attention, [(m, n) for m, n in view.mixer_counts if isinstance(m, Gqa) and m.shared_k]
    return sum(count * max(1, m.kv_heads // tp) * m.v_head_dim * hidden * size for m, count in shared)


def driver_view_bytes(experts_bytes: int) -> int:
    """What the loader's log counts on ROCm beside the tensors; `experts_bytes` are those of quantised experts."""
    return ROCM_LIBRARY_BYTES + experts_bytes // ROCM_REPACK_SHARE


def absorbed_bytes(view: RankView) -> int:
    """The absorbed latent projections."""
    return absorbed_values(view) * ABSORBED_BYTES
