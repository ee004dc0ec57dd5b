"""A weight tensor as the checkpoint names it, with the way tensor parallelism divides it."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    # none    every tensor-parallel rank holds all of it
    # rows    output features divided (column parallel in the engines' words); `units` must divide evenly
    # cols    input features divided (row parallel)
    # kv      like rows, but whole KV heads, replicated when there are fewer heads than ranks
    # vocab   rows are the vocabulary: padded, then divided
    from typing import Literal

    Split = Literal["none", "rows", "cols", "kv", "vocab"]
    # linear     a matrix that a quantisation scheme may store in fewer bits
    # embedding  a lookup table or output head
    # plain      norms, biases, convolution kernels, gates kept in the model's dtype
    Kind = Literal["linear", "embedding", "plain"]


@value
class Tensor:
    """One parameter tensor: `rows` x `cols` elements, `copies` times (the routed experts of one layer).

    `name` is the path inside its block as the checkpoint writes it, without `.weight`
    (`self_attn.q_proj`, `mlp.experts.gate_proj`); quantisation rules match against it.
    `units` is the number of indivisible pieces along the divided axis (heads); None means single elements.
    `fused` names the merged matrix that the engines build from it (`qkv_proj`, `gate_up_proj`), if any.
    `whole_if_uneven` is True where ranks that do not divide `units` each hold the whole tensor instead of refusing.
    `dtype` is set where the tensor does not follow the model's dtype (`float32`).
    `is_expert` marks tensors that expert parallelism distributes whole. `is_counted` is False for values
    that take bytes and that totals of parameters leave out: scales of another tensor, corrections kept as buffers.
    """

    name: str
    rows: int
    cols: int = 1
    split: Split = "none"
    kind: Kind = "linear"
    units: int | None = None
    copies: int = 1
    is_expert: bool = False
    fused: str | None = None
    dtype: str | None = None
    is_counted: bool = True
    whole_if_uneven: bool = False

    @property
    def params(self) -> int:
        """Number of parameters over all copies."""
        return self.rows * self.cols * self.copies if self.is_counted else 0


def vector(name: str, size: int, split: Split = "none", units: int | None = None, dtype: str | None = None) -> Tensor:
    """A one-dimensional parameter (norm, bias, per-head scalar) of `size` elements."""
    return Tensor(name, size, 1, split, "plain", units, dtype=dtype)
