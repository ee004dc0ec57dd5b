"""A dense feed-forward part."""

from __future__ import annotations

from tonnage.model.tensor import Tensor, vector
from tonnage.value import value


@value
class Dense:
    """`width` inner features; `gated` has gate and up matrices (SwiGLU), else one (ReLU2, GELU)."""

    width: int
    gated: bool = True
    bias: bool = False
    name: str = "mlp"


def dense_tensors(part: Dense, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one dense part of residual width `hidden`: (2 or 3) x hidden x width, and biases."""
    fused = "gate_up_proj" if part.gated else None
    inward = ("gate_proj", "up_proj") if part.gated else ("up_proj",)
    tensors = [Tensor(f"{part.name}.{name}", part.width, hidden, "rows", fused=fused) for name in inward]
    tensors.append(Tensor(f"{part.name}.down_proj", hidden, part.width, "cols"))
    if part.bias:
        tensors += [vector(f"{part.name}.{name}.bias", part.width, "rows") for name in inward]
        tensors.append(vector(f"{part.name}.down_proj.bias", hidden))
    return tuple(tensors)
