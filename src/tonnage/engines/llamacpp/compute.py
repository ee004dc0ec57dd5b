"""The compute buffer of a device: the largest tensors of a graph that live at the same time.

Sources: llama.cpp `src/llama-graph.cpp` and start logs: without flash attention the scores of all heads over the whole
context; on the last device the logits of a micro-batch (Qwen3 235B: 312.75 MiB = 151,936 x 512 x 4 B + 16 MiB).
"""

from __future__ import annotations

from tonnage.engines.llamacpp.cache import CELL_MULTIPLE
from tonnage.figure import banded
from tonnage.model.dtypes import FLOAT32_BYTES
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.units import round_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.llamacpp.build import Build
    from tonnage.figure import Line
    from tonnage.memory.rank_view import RankView
    from tonnage.model.arch import Arch, Layer, Mixer

HALF_BYTES = 2
RESIDUALS = 2  # the hidden state and the residual beside the largest tensor
EXPERT_BUFFERS = 3  # gate, up and their product for each chosen expert
# Of 21 published buffers without latent attention two thirds are met within 1 %, the rest are up to 3.3 times larger,
# because experts kept on the host are copied for prompts; 27 with it are 0.4 to 3.7 times the formula, median 1.4.
LOW, HIGH = 0.5, 2.5


def compute_line(build: Build, view: RankView, flash: bool = True) -> Line:
    """Scratch memory of the largest graph for one micro-batch; `flash` attention needs no scores of all heads."""
    size = compute_bytes(build, view, flash)
    trace = f"micro-batch of {view.serving.max_num_batched_tokens:,} tokens, flash attention {'on' if flash else 'off'}"
    return banded("activations", size, (LOW, HIGH), "derived", trace)


def compute_bytes(build: Build, view: RankView, flash: bool) -> int:
    """Bytes of the compute buffer on the view's device."""
    arch, batch = view.parts.arch, view.serving.max_num_batched_tokens
    context = round_up(view.serving.max_model_len, CELL_MULTIPLE)
    values = max((_layer_values(arch.layers[index], arch.hidden) for index in view.layers), default=0)
    logits = batch * arch.vocab * FLOAT32_BYTES if view.has_head else 0
    scores = max((_score_bytes(build, mixer, context, batch, flash) for mixer in view.mixers), default=0)
    mask = context * batch * (HALF_BYTES if flash else FLOAT32_BYTES)
    inside = max(batch * values * FLOAT32_BYTES, scores) + mask
    return max(inside, logits) + RESIDUALS * batch * arch.hidden * FLOAT32_BYTES


def _layer_values(layer: Layer, hidden: int) -> int:
    """Values per token of the widest part of a layer."""
    widths = [hidden]
    for ffn in layer.ffns:
        inner = ffn.top_k * (EXPERT_BUFFERS * ffn.width + hidden) if isinstance(ffn, Moe) else 2 * ffn.width
        widths.append(inner)
    return max(widths)


def _score_bytes(build: Build, mixer: Mixer, context: int, batch: int, flash: bool) -> int:
    if isinstance(mixer, Mla) and build.is_ik and build.mla_mode > 1:
        # The fork expands the latent of the whole context for prompts.
        return context * mixer.heads * (mixer.nope_dim + mixer.rope_dim + mixer.v_dim) * HALF_BYTES
    if flash or not isinstance(mixer, Gqa | Mla | Compressed):
        return 0
    return context * batch * mixer.heads * FLOAT32_BYTES


def encoder_bytes(arch: Arch) -> int:
    """Bytes of the encoder's own file (`--mmproj`), in 16 bit."""
    return sum(tensor.params * HALF_BYTES for tower in arch.towers for tensor in tower.tensors)
