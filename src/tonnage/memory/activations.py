"""Working memory of one forward pass, per rank.

Sums of the buffers that live at the same time in one layer, in the model's dtype. Sources: vLLM
`fused_moe/fused_moe.py` (intermediate_cache13 and intermediate_cache2) for experts, which two logs of 8-card starts
bear out within 10 % (https://github.com/vllm-project/vllm/issues/13074 is one); start-up logs of Llama 3.1 8B at two
prompt lengths for dense layers (https://github.com/vllm-project/vllm/issues/10517, exact to 0.1 %).
"""

from __future__ import annotations

from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.units import ceil_div

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tonnage.layout.widths import Widths
    from tonnage.memory.rank_view import RankView
    from tonnage.model.arch import Layer, Mixer
    from tonnage.model.ffn.moe import Moe

ELEMENT_BYTES = 2  # activations are 16 bit in every engine here
DENSE_BUFFERS = 3  # gate, up and their product; input, output and residual
RESIDUALS = 2  # the hidden state and the residual beside the experts' workspace


def forward_peak_bytes(view: RankView, tokens: int) -> int:
    """Largest working set of one layer on the rank for `tokens` tokens in flight."""
    arch = view.parts.arch
    held = slice(view.layers.start, view.layers.stop)
    distinct = dict(zip(view.parts.class_of[held], arch.layers[held], strict=True))
    return max(layer_values(layer, arch.hidden, view.widths) for layer in distinct.values()) * tokens * ELEMENT_BYTES


def layer_values(layer: Layer, hidden: int, widths: Widths) -> int:
    """Values per token alive at the worst moment of one layer."""
    parts = [mixer_values(mixer, hidden, widths.attention) for mixer in layer.mixers]
    parts += [ffn_values(ffn, hidden, widths) for ffn in layer.ffns]
    return max(parts, default=hidden)


def ffn_values(ffn: Dense | Moe, hidden: int, widths: Widths) -> int:
    """Values per token of a feed-forward part."""
    if isinstance(ffn, Dense):
        return DENSE_BUFFERS * (ffn.width // widths.dense + hidden)
    width, inner = ffn.width // widths.moe_tp, ffn.latent or hidden
    # The input of the first product and the output of the second take turns in one workspace.
    routed = ffn.top_k * (max(2 * width, inner) + width)
    return routed + hidden + RESIDUALS * hidden + DENSE_BUFFERS * (ffn.shared_width // widths.shared)


def mixer_values(mixer: Mixer, hidden: int, tp: int) -> int:
    """Values per token of a mixer: its input, its projections and its output."""
    return _VALUES[type(mixer)](mixer, hidden, tp)


def _gqa(mixer: Gqa, hidden: int, tp: int) -> int:
    query = ceil_div(mixer.heads, tp) * mixer.head_dim
    keys = max(1, mixer.kv_heads // tp) * (mixer.head_dim + mixer.v_head_dim)
    return hidden + 2 * query + keys


def _mla(mixer: Mla, hidden: int, tp: int) -> int:
    heads = mixer.heads // tp
    query = heads * (mixer.nope_dim + mixer.rope_dim)
    return hidden + 2 * query + heads * (mixer.nope_dim + mixer.v_dim) + mixer.kv_lora_rank + mixer.rope_dim


def _compressed(mixer: Compressed, hidden: int, tp: int) -> int:
    return hidden + 2 * (mixer.heads // tp) * mixer.head_dim + mixer.q_lora_rank + mixer.head_dim


def _deltanet(mixer: DeltaNet, hidden: int, tp: int) -> int:
    keys = mixer.key_heads * mixer.key_dim // tp
    values = mixer.value_heads * mixer.value_dim // tp
    return hidden + 2 * (2 * keys + 2 * values)


def _kda(mixer: Kda, hidden: int, tp: int) -> int:
    return hidden + 2 * (2 * 2 * mixer.heads * mixer.head_dim // tp)


def _mamba1(mixer: Mamba1, hidden: int, tp: int) -> int:
    return hidden + 2 * 2 * mixer.inner // tp


def _mamba2(mixer: Mamba2, hidden: int, tp: int) -> int:
    inner = mixer.heads * mixer.head_dim
    return hidden + 2 * (2 * inner + 2 * mixer.groups * mixer.state) // tp


_VALUES: dict[type, Callable[[Any, int, int], int]] = {
    Gqa: _gqa, Mla: _mla, Compressed: _compressed, DeltaNet: _deltanet, Kda: _kda, Mamba1: _mamba1, Mamba2: _mamba2,
}  # fmt: skip
