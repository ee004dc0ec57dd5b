"""What SGLang keeps on a rank beside the parameters: rotary tables, absorbed projections, copies of shared experts."""

from __future__ import annotations

from tonnage.engines.sglang.stored import compute_dtype
from tonnage.engines.sglang.version import Version
from tonnage.layout.shard import cut
from tonnage.memory.buffers import absorbed_values, table_bytes
from tonnage.model.dtypes import FLOAT32_BYTES, element_bytes
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.mla import Mla
from tonnage.units import MIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.parts import Piece
    from tonnage.memory.rank_view import RankView
    from tonnage.memory.weights import Store

# `mem usage` of loading is the driver's view: allocator segments and kernels loaded on the way come on top of the
# tensors. Five NVIDIA logs of models from 0.5 to 33 billion parameters leave 31 to 103 MiB, median 65.
LOADING_SLACK_BYTES = 64 * MIB
HALF_BYTES = 2
# Up to 0.4.6 the shared expert of DeepSeek V3 was fused as `tp` more routed experts, a whole one on each rank
# (SGLang `models/deepseek_v2.py`, n_share_experts_fusion); since 0.4.7 it is one more expert, cut like the others.
FIRST_WITH_ONE_FUSED_EXPERT = Version(0, 4, 7)
FUSED_EXPERTS = 256  # only models with as many routed experts are fused
FUSING_TARGETS = ("sm_9", "sm_10", "gfx94", "gfx95")


def rope_bytes(view: RankView) -> int:
    """Rotary tables: 32 bits wide on CUDA, in the model's type elsewhere (SGLang `layers/rotary_embedding`)."""
    arch = view.parts.arch
    own = FLOAT32_BYTES if view.card.vendor == "nvidia" else element_bytes(compute_dtype(arch.dtype))
    return table_bytes(arch, own)


def absorbed_bytes(view: RankView) -> int:
    """The absorbed latent projections: in 16 bit on CUDA; on ROCm fp8 stays fp8.

    (SGLang `models/deepseek_common/deepseek_weight_loader.py`)
    """
    stays_fp8 = view.card.vendor == "amd" and any(_is_fp8_up(piece) for piece in _pieces(view))
    return absorbed_values(view) * (1 if stays_fp8 else HALF_BYTES)


def _is_fp8_up(piece: Piece) -> bool:
    return piece.tensor.name.endswith("kv_b_proj") and piece.format is not None and piece.format.name.startswith("fp8")


def _pieces(view: RankView) -> tuple[Piece, ...]:
    numbers = dict.fromkeys(view.parts.class_of[index] for index in view.layers)
    return tuple(piece for number in numbers for piece in view.parts.classes[number])


def fused_shared_bytes(version: Version, view: RankView, store: Store) -> int:
    """What the copies of a fused shared expert add to the cut one."""
    target = view.card.target or ""
    if version >= FIRST_WITH_ONE_FUSED_EXPERT or not target.startswith(FUSING_TARGETS) or not _is_fusable(view):
        return 0
    total = 0
    for index in view.layers:
        shared = (piece for piece in view.parts.classes[view.parts.class_of[index]] if piece.group == "shared")
        total += sum(store(piece, cut(piece.tensor, 1)) - store(piece, view.division.shard(piece)) for piece in shared)
    return total


def _is_fusable(view: RankView) -> bool:
    ffns = {ffn for layer in view.parts.arch.layers for ffn in layer.ffns if isinstance(ffn, Moe)}
    latent = any(isinstance(mixer, Mla) for mixer in view.mixers)
    return latent and view.widths.moe_ep == 1 and any(ffn.experts == FUSED_EXPERTS for ffn in ffns)
