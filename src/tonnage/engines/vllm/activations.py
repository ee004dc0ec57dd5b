"""The peak of vLLM's profiling run: one forward pass, or the sampler after it, whichever is larger."""

from __future__ import annotations

from tonnage.figure import Line
from tonnage.memory.activations import forward_peak_bytes
from tonnage.memory.rank_view import RankView
from tonnage.model.mixer.mla import Mla

# Bytes alive per logit while the sampler warms up: the logits, their fp32 copies and the sort buffers of top-k and top-p.
# Seven logs that state the peak with known requests and vocabulary (llm-d planner's H100 table, vLLM issues 10517, 13074
# and V1 logs up to 0.29) lie between 36.6 and 38.8, median 38.5.
SAMPLER_BYTES_PER_LOGIT = 38.5
# The chunked-context workspace of latent attention (vLLM `layers/attention/mla_attention.py`): tokens, per token values.
WORKSPACE_TOKENS = 65536
WORKSPACE_CONTEXTS = 8
ELEMENT_BYTES = 2
# Spread of formula against log over the rows above and the left-overs of published starts.
LOW, HIGH = 0.6, 1.5


def activation_line(view: RankView) -> Line:
    """Peak of the profiling run on the rank."""
    serving = view.serving
    forward = forward_peak_bytes(view, serving.max_num_batched_tokens)
    sampler = sampler_peak_bytes(view)
    fixed = workspace_bytes(view)
    peak = max(forward, sampler) + fixed
    trace = (
        f"max(forward {forward:,} B for {serving.max_num_batched_tokens:,} tokens, sampler {sampler:,} B)"
        f" + latent workspace {fixed:,} B"
    )
    return Line("activations", peak, int(peak * LOW), int(peak * HIGH), "derived", trace)


def sampler_peak_bytes(view: RankView) -> int:
    """Sampler warm-up over the full vocabulary, on the last stage only; tensor parallelism does not shrink it."""
    if not view.is_last:
        return 0
    requests = min(view.serving.max_num_seqs, view.serving.max_num_batched_tokens)
    return int(requests * view.parts.arch.vocab * SAMPLER_BYTES_PER_LOGIT)


def workspace_bytes(view: RankView) -> int:
    """Gathered latent context and its up-projection, reserved once when the rank has latent attention."""
    mixer = next((m for m in view.mixers if isinstance(m, Mla)), None)
    if mixer is None:
        return 0
    tokens = min(WORKSPACE_CONTEXTS * view.serving.max_model_len, WORKSPACE_TOKENS)
    gathered = mixer.kv_lora_rank + mixer.rope_dim
    projected = mixer.heads // view.widths.attention * (mixer.nope_dim + mixer.rope_dim + mixer.v_dim)
    return tokens * (gathered + projected) * ELEMENT_BYTES
