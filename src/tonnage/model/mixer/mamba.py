"""State-space mixers: Mamba 1 (Jamba) and Mamba 2 (Nemotron-H, Granite 4, Falcon-H1)."""

from __future__ import annotations

from tonnage.model.tensor import Tensor, vector
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.tensor import Kind


@value
class Mamba1:
    """Selective state space with `inner` channels and a state of `state` values per channel."""

    inner: int
    state: int
    kernel: int
    dt_rank: int
    inner_norms: bool = False
    conv_bias: bool = True
    proj_bias: bool = False
    name: str = "mamba"


@value
class Mamba2:
    """`heads` heads of `head_dim` channels, `groups` groups of B and C, a state of `state` values per channel.

    `gated_norm` is False where no norm stands before the output projection (Falcon-H1).
    """

    heads: int
    head_dim: int
    groups: int
    state: int
    kernel: int
    conv_bias: bool = True
    proj_bias: bool = False
    gated_norm: bool = True
    state_dtype: str | None = None
    name: str = "mixer"

    @property
    def inner(self) -> int:
        """Number of channels."""
        return self.heads * self.head_dim


def mamba1_tensors(mixer: Mamba1, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one Mamba 1 mixer of residual width `hidden`, under the checkpoint's names.

    Channels divide; the step's low rank and the state do not.
    """
    name, inner, state = mixer.name, mixer.inner, mixer.state
    tensors = [
        Tensor(f"{name}.in_proj", 2 * inner, hidden, "rows", units=inner),
        Tensor(f"{name}.conv1d", inner, mixer.kernel, "rows", "plain"),
        Tensor(f"{name}.x_proj", mixer.dt_rank + 2 * state, inner, "cols"),
        Tensor(f"{name}.dt_proj", inner, mixer.dt_rank, "rows"),
        vector(f"{name}.dt_proj.bias", inner, "rows"),
        # Engines turn the logarithm into the decay itself, in 32 bits.
        Tensor(f"{name}.A_log", inner, state, "rows", "plain", dtype="float32"),
        vector(f"{name}.D", inner, "rows"),
        Tensor(f"{name}.out_proj", hidden, inner, "cols"),
    ]
    if mixer.conv_bias:
        tensors.append(vector(f"{name}.conv1d.bias", inner, "rows"))
    if mixer.proj_bias:
        tensors += [vector(f"{name}.in_proj.bias", 2 * inner, "rows", inner), vector(f"{name}.out_proj.bias", hidden)]
    return (*tensors, *_inner_norms(mixer))


def _inner_norms(mixer: Mamba1) -> tuple[Tensor, ...]:
    if not mixer.inner_norms:
        return ()
    sizes = {"dt_layernorm": mixer.dt_rank, "b_layernorm": mixer.state, "c_layernorm": mixer.state}
    return tuple(vector(f"{mixer.name}.{name}", size) for name, size in sizes.items())


def mamba2_tensors(mixer: Mamba2, hidden: int) -> tuple[Tensor, ...]:
    """Parameters of one Mamba 2 mixer of residual width `hidden`, under the checkpoint's names.

    Sizes: hidden x (2 inner + 2 groups state + heads) in, (inner + 2 groups state) x kernel, 3 per head, inner norm.
    """
    name, heads, inner = mixer.name, mixer.heads, mixer.inner
    tensors = [
        *_grouped(mixer, "in_proj", 2 * inner + heads, hidden, "linear"),
        *_grouped(mixer, "conv1d", inner, mixer.kernel, "plain"),
        vector(f"{name}.A_log", heads, "rows", heads, "float32"),
        vector(f"{name}.D", heads, "rows", heads),
        vector(f"{name}.dt_bias", heads, "rows", heads),
        Tensor(f"{name}.out_proj", hidden, inner, "cols", units=heads),
    ]
    if mixer.conv_bias:
        tensors += _grouped(mixer, "conv1d.bias", inner, 1, "plain")
    if mixer.proj_bias:
        tensors += _grouped(mixer, "in_proj.bias", 2 * inner + heads, 1, "plain")
        tensors.append(vector(f"{name}.out_proj.bias", hidden))
    if mixer.gated_norm:
        tensors.append(vector(f"{name}.norm", inner, "rows", heads))
    return tuple(tensors)


def _grouped(mixer: Mamba2, part: str, rows: int, cols: int, kind: Kind) -> list[Tensor]:
    """A matrix with `rows` rows that divide by heads, and those of B and C, which divide by groups.

    A single group stands whole on every rank (vLLM mamba_mixer2.py), so its rows become a tensor of their own.
    """
    name, extra = f"{mixer.name}.{part}", 2 * mixer.groups * mixer.state
    if mixer.groups > 1:
        return [Tensor(name, rows + extra, cols, "rows", kind, mixer.groups)]
    return [Tensor(name, rows, cols, "rows", kind, mixer.heads), Tensor(name, extra, cols, "none", kind)]
