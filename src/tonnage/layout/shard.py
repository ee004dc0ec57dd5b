"""The part of one tensor that one rank holds."""

from __future__ import annotations

from tonnage.errors import LayoutError
from tonnage.units import round_up
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.tensor import Tensor

VOCAB_MULTIPLE = 64  # engines pad the vocabulary to it before dividing (vLLM vocab_parallel_embedding.py)


@value
class Shard:
    """`rows` x `cols` elements, `copies` times, of one tensor on one rank."""

    rows: int
    cols: int
    copies: int

    @property
    def params(self) -> int:
        """Elements over all copies."""
        return self.rows * self.cols * self.copies


def cut(tensor: Tensor, width: int, copies: int | None = None) -> Shard:
    """The shard of `tensor` when `width` ranks share it; `copies` replaces the number of experts held.

    Raises LayoutError when the pieces do not divide evenly.
    """
    held = tensor.copies if copies is None else copies
    if tensor.split == "none" or (width == 1 and tensor.split != "vocab") or _stays_whole(tensor, width):
        return Shard(tensor.rows, tensor.cols, held)
    if tensor.split == "cols":
        return Shard(tensor.rows, _divided(tensor, tensor.cols, width), held)
    if tensor.split == "kv":
        return Shard(_kv_rows(tensor, width), tensor.cols, held)
    if tensor.split == "vocab":
        padded = round_up(tensor.rows, VOCAB_MULTIPLE)
        return Shard(_divided(tensor, padded, width), tensor.cols, held)
    return Shard(_divided(tensor, tensor.rows, width), tensor.cols, held)


def pad_expert(tensor: Tensor, shard: Shard, inner: int, hidden: int) -> Shard:
    """An expert's shard as kernels want it: the axis that is divided, its inner width, a multiple of `inner`, the
    other a multiple of `hidden`."""
    rows, cols = (hidden, inner) if tensor.split == "cols" else (inner, hidden)
    return Shard(round_up(shard.rows, rows), round_up(shard.cols, cols), shard.copies)


def _stays_whole(tensor: Tensor, width: int) -> bool:
    return tensor.whole_if_uneven and tensor.units is not None and tensor.units % width != 0


def _divided(tensor: Tensor, size: int, width: int) -> int:
    pieces = size if tensor.units is None else tensor.units
    if pieces % width or size % width:
        raise LayoutError(tensor.name, f"{pieces} pieces over {width} ranks", f"a width that divides {pieces}")
    return size // width


def _kv_rows(tensor: Tensor, width: int) -> int:
    """Rows of whole KV heads: divided while there are enough, then one head replicated."""
    heads = tensor.units or tensor.rows
    large, small = max(heads, width), min(heads, width)
    if large % small:
        raise LayoutError(tensor.name, f"{heads} KV heads over {width} ranks", f"a divisor or a multiple of {heads}")
    return tensor.rows // min(heads, width)
