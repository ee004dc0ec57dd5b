"""Over how many ranks SGLang divides each group of tensors."""

from __future__ import annotations

from tonnage.layout.widths import Widths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.layout import Layout


def sglang_widths(layout: Layout) -> Widths:
    """Widths of a layout.

    Data-parallel attention divides the group of `tp` ranks: attention and embedding are cut over tp / dp ranks only,
    everything else over all of them (SGLang `layers/dp_attention.py`, `models/deepseek_v2.py`). Plain data
    parallelism starts separate copies, which share no experts.
    """
    tp = layout.tp
    attention = max(1, tp // layout.dp) if layout.dp_inside_tp else tp
    moe_tp, moe_ep = (1, tp) if layout.ep else (tp, 1)
    return Widths(
        attention=attention, dense=tp, shared=tp, embedding=attention, head=tp, tower=attention, moe_tp=moe_tp,
        moe_ep=moe_ep,
    )  # fmt: skip
