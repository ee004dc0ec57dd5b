"""Kimi Delta Attention: linear attention with per-channel gates (Kimi-Linear, Kimi K3)."""

from __future__ import annotations

from tonnage.model.tensor import Tensor, vector
from tonnage.value import value

FUSED = "in_proj_qkvgfab"


@value
class Kda:
    """`full_rank_gate` is True where the output gate is hidden x heads*head_dim (K3), else low rank."""

    heads: int
    head_dim: int
    kernel: int
    full_rank_gate: bool = False
    name: str = "self_attn"


def kda_tensors(mixer: Kda, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one Kimi delta attention of residual width `hidden`, under the checkpoint's names.

    With P = heads x head_dim: 4 hidden P, 3 P kernel, the decay's low rank (hidden + P) head_dim, a beta per head, the
    gate, and heads + P + head_dim scalars. Convolutions, decay and its bias are 32 bits wide in the engines.
    """
    name, heads, width = mixer.name, mixer.heads, mixer.heads * mixer.head_dim
    inward = [Tensor(f"{name}.{part}_proj", width, hidden, "rows", units=heads, fused=FUSED) for part in "qkv"]
    convolutions = [
        Tensor(f"{name}.{part}_conv1d", width, mixer.kernel, "rows", "plain", heads, dtype="float32") for part in "qkv"
    ]
    return (
        *inward,
        *_gate(mixer, hidden, width),
        Tensor(f"{name}.f_a_proj", mixer.head_dim, hidden, fused=FUSED),
        Tensor(f"{name}.f_b_proj", width, mixer.head_dim, "rows", units=heads),
        Tensor(f"{name}.b_proj", heads, hidden, "rows", units=heads, fused=FUSED),
        *convolutions,
        vector(f"{name}.A_log", heads, "rows", heads, "float32"),
        vector(f"{name}.dt_bias", width, "rows", heads, "float32"),
        vector(f"{name}.o_norm", mixer.head_dim),
        Tensor(f"{name}.o_proj", hidden, width, "cols", units=heads),
    )


def _gate(mixer: Kda, hidden: int, width: int) -> list[Tensor]:
    if mixer.full_rank_gate:
        return [Tensor(f"{mixer.name}.g_proj", width, hidden, "rows", units=mixer.heads, fused=FUSED)]
    return [
        Tensor(f"{mixer.name}.g_a_proj", mixer.head_dim, hidden),
        Tensor(f"{mixer.name}.g_b_proj", width, mixer.head_dim, "rows", units=mixer.heads),
    ]
