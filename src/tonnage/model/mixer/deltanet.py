"""Gated DeltaNet: linear attention with a convolution and a recurrent state per sequence (Qwen3-Next, Qwen3.5)."""

from __future__ import annotations

from tonnage.model.tensor import Tensor, vector
from tonnage.value import value


@value
class DeltaNet:
    """`state_dtype` is the type of the recurrent state where the configuration fixes one (`float32` from Qwen3.5 on).

    `merged` is True where the checkpoint stores the projections in two interleaved matrices (Qwen3-Next).
    """

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int
    state_dtype: str | None = None
    merged: bool = False
    name: str = "linear_attn"

    @property
    def keys(self) -> int:
        """Width of all key heads together, in features."""
        return self.key_heads * self.key_dim

    @property
    def values(self) -> int:
        """Width of all value heads together, in features."""
        return self.value_heads * self.value_dim


def deltanet_tensors(mixer: DeltaNet, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one gated DeltaNet of residual width `hidden`, under the checkpoint's names.

    With K keys, V values, n value heads: hidden x (2K + 2V + 2n) in, (2K + V) x kernel, 2n, a norm, V x hidden out.
    """
    name, heads = mixer.name, mixer.value_heads
    return (
        *_projections(mixer, hidden),
        Tensor(f"{name}.conv1d", _mixed(mixer), mixer.kernel, "rows", "plain", mixer.key_heads),
        vector(f"{name}.dt_bias", heads, "rows", heads),
        # Engines hold the decay in 32 bits, whatever the checkpoint stores.
        vector(f"{name}.A_log", heads, "rows", heads, "float32"),
        vector(f"{name}.norm", mixer.value_dim),
        Tensor(f"{name}.out_proj", hidden, mixer.values, "cols", units=heads),
    )


def _mixed(mixer: DeltaNet) -> int:
    """Width of queries, keys and values together."""
    return 2 * mixer.keys + mixer.values


def _projections(mixer: DeltaNet, hidden: int) -> tuple[Tensor, ...]:
    wide, narrow = f"{mixer.name}.in_proj_qkvz", f"{mixer.name}.in_proj_ba"
    keys, heads = mixer.key_heads, mixer.value_heads
    if mixer.merged:
        return (
            Tensor(wide, _mixed(mixer) + mixer.values, hidden, "rows", units=keys),
            Tensor(narrow, 2 * heads, hidden, "rows", units=keys),
        )
    fused_wide, fused_narrow = wide.rpartition(".")[2], narrow.rpartition(".")[2]
    return (
        Tensor(f"{mixer.name}.in_proj_qkv", _mixed(mixer), hidden, "rows", units=keys, fused=fused_wide),
        Tensor(f"{mixer.name}.in_proj_z", mixer.values, hidden, "rows", units=heads, fused=fused_wide),
        Tensor(f"{mixer.name}.in_proj_b", heads, hidden, "rows", units=heads, fused=fused_narrow),
        Tensor(f"{mixer.name}.in_proj_a", heads, hidden, "rows", units=heads, fused=fused_narrow),
    )
