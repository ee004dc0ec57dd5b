"""Over how many ranks each group of tensors is divided."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Group

# Groups whose width has another name; the other groups are called like theirs.
_WIDTHS = {"experts": "moe_tp", "lookup": "dense", "plain": "dense"}


@value
class Widths:
    """Ranks among which one tensor of each group is cut; 1 means every rank holds all of it.

    `moe_tp` cuts each expert, `moe_ep` distributes whole experts.
    """

    attention: int
    dense: int
    shared: int
    embedding: int
    head: int
    tower: int
    moe_tp: int
    moe_ep: int

    @property
    def words(self) -> str:
        """How layers are divided, for people: `attention over 8 ranks, dense parts over 8, experts whole over 8`."""
        experts = f"whole over {self.moe_ep}" if self.moe_ep > 1 else f"cut over {self.moe_tp}"
        return f"attention over {self.attention} ranks, dense parts over {self.dense}, experts {experts}"


def width_of(group: Group, widths: Widths) -> int:
    """Ranks among which a tensor of `group` is cut."""
    width: int = getattr(widths, _WIDTHS.get(group, group))
    return width


def plain_widths(layout: Layout) -> Widths:
    """Widths when data parallelism multiplies the tensor-parallel group.

    The experts' group is flattened over tp x dp, with or without expert parallelism
    (vLLM `fused_moe/config.py`, FusedMoEParallelConfig.make).
    """
    tp, flat = layout.tp, layout.tp * layout.dp
    moe_tp, moe_ep = (1, flat) if layout.ep else (flat, 1)
    return Widths(tp, tp, tp, tp, tp, tp, moe_tp, moe_ep)
