"""What engines keep on a rank beside the parameters, whatever the engine."""

from __future__ import annotations

from tonnage.model.dtypes import element_bytes
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.memory.rank_view import RankView
    from tonnage.model.arch import Arch


def table_bytes(arch: Arch, own_bytes: int) -> int:
    """Rotary tables, each stage's copy of every distinct one; `own_bytes` an element where a table has no own type."""
    sizes = ((rope, element_bytes(rope.dtype) if rope.dtype else own_bytes) for rope in arch.ropes)
    return sum(rope.positions * rope.dim * size for rope, size in sizes)


def absorbed_values(view: RankView) -> int:
    """Elements of the two matrices per latent layer that fold the KV up-projection into queries and outputs.

    They are made after loading from `kv_b_proj`, which stays: heads x latent x (nope + v).
    """
    latent = ((mixer, count) for mixer, count in view.mixer_counts if isinstance(mixer, Mla))
    tp = view.widths.attention
    return sum(count * (m.heads // tp) * m.kv_lora_rank * (m.nope_dim + m.v_dim) for m, count in latent)
