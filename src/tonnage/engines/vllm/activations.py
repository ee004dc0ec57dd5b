"""The peak of vLLM's profiling run: one forward pass, or the sampler after it, whichever is larger."""

from __future__ import annotations

from tonnage.engines.vllm.kv_block import FLASHMLA_BLOCK
from tonnage.engines.vllm.version import Version
from tonnage.figure import banded
from tonnage.memory.activations import ELEMENT_BYTES, forward_peak_bytes
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.figure import Line
    from tonnage.memory.rank_view import RankView

# Bytes alive per logit while the sampler warms up: the logits, their fp32 copies and, while top-k and top-p sorted the
# whole vocabulary, the sort buffers. Seven logs that state the peak (the H100 table of llm-d's planner, vLLM issues
# 10517 and 13074) lie between 36.6 and 38.8; three starts since the kernels stopped sorting between 16 and 20.
SORTING_BYTES_PER_LOGIT, BYTES_PER_LOGIT = 38.5, 18.0
FIRST_WITHOUT_SORT = Version(0, 17)
# The chunked-context workspace of latent attention, in tokens (vLLM `layers/attention/mla_attention.py`).
WORKSPACE_TOKENS = 65536
WORKSPACE_CONTEXTS = 8
WORKSPACE_PAGES = 4  # a request
# Spread of formula against log over the rows above and the left-overs of published starts.
LOW, HIGH = 0.6, 1.5


def activation_line(view: RankView, version: Version) -> Line:
    """Peak of the profiling run on the rank."""
    serving = view.serving
    forward = max(forward_peak_bytes(view, serving.max_num_batched_tokens), projection_bytes(view))
    sampler = sampler_peak_bytes(view, version)
    fixed = workspace_bytes(view)
    peak = max(forward, sampler) + fixed
    trace = (
        f"max(forward {forward:,} B for {serving.max_num_batched_tokens:,} tokens, sampler {sampler:,} B)"
        f" + latent workspace {fixed:,} B"
    )
    return banded("activations", peak, (LOW, HIGH), "derived", trace)


def sampler_peak_bytes(view: RankView, version: Version) -> int:
    """Sampler warm-up over the full vocabulary, on the last stage only; tensor parallelism does not shrink it."""
    if not view.is_last:
        return 0
    requests = min(view.serving.max_num_seqs, view.serving.max_num_batched_tokens)
    per_logit = BYTES_PER_LOGIT if version >= FIRST_WITHOUT_SORT else SORTING_BYTES_PER_LOGIT
    return int(requests * view.parts.arch.vocab * per_logit)


def workspace_bytes(view: RankView) -> int:
    """The gathered latent context, reserved once when the rank has latent attention."""
    mixer = _latent(view)
    return 0 if mixer is None else _workspace_tokens(view) * (mixer.kv_lora_rank + mixer.rope_dim) * ELEMENT_BYTES


def projection_bytes(view: RankView) -> int:
    """The gathered context after its up-projection, alive in one layer at a time."""
    mixer = _latent(view)
    if mixer is None:
        return 0
    values = mixer.heads // view.widths.attention * (mixer.nope_dim + mixer.rope_dim + mixer.v_dim)
    return _workspace_tokens(view) * values * ELEMENT_BYTES


def _workspace_tokens(view: RankView) -> int:
    serving = view.serving
    pages = WORKSPACE_PAGES * serving.max_num_seqs * (serving.block_size or FLASHMLA_BLOCK)
    return min(max(WORKSPACE_CONTEXTS * serving.max_model_len, pages), WORKSPACE_TOKENS)


def _latent(view: RankView) -> Mla | None:
    return next((mixer for mixer, _ in view.mixer_counts if isinstance(mixer, Mla)), None)
