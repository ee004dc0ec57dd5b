"""What lives outside the static share while SGLang serves: activations, graphs, the table of token places."""

from __future__ import annotations

from tonnage.engines.sglang.batch import batch_limits
from tonnage.engines.sglang.graph_sizes import num_decode_sizes, prefill_tokens
from tonnage.engines.sglang.version import Version
from tonnage.figure import banded, exact
from tonnage.memory.activations import forward_peak_bytes
from tonnage.units import MIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.figure import Line
    from tonnage.memory.rank_view import RankView

# Decode graphs: 60 to 650 KB per layer and captured size in five logs (32B dense, 300B of experts, Kimi K2.7).
DECODE_BYTES = 300_000
# Prefill graphs keep about two working sets of the largest capture (1.9 to 2.8 GiB in two logs of 2026).
PREFILL_SETS = 2
LOW, HIGH = 0.3, 3.0
# Each request slot has one int32 place per token of context, and a few spare (SGLang `memory_pool.py` ReqToTokenPool).
PLACE_BYTES, SPARE_PLACES = 4, 4
# Embeddings of images kept for reuse (SGLANG_VLM_CACHE_SIZE_MB), taken from the KV budget in newer versions.
VISION_CACHE_BYTES = 100 * MIB
FIRST_WITH_VISION_RESERVE = Version(0, 5, 20)


def activation_line(view: RankView) -> Line:
    """Working memory of one prefill chunk; SGLang profiles none, it has to fit in the rest of the card."""
    tokens = view.serving.max_num_batched_tokens
    peak = forward_peak_bytes(view, tokens)
    return banded("activations", peak, (LOW, HIGH), "derived", f"one chunk of {tokens:,} tokens")


def graph_line(version: Version, view: RankView) -> Line:
    """Captured graphs of decode and, in newer versions, of prefill."""
    if view.serving.eager or view.card.vendor == "host":
        return exact("cuda_graphs", 0, "no graphs")
    layout, tokens = view.layout, view.serving.max_num_batched_tokens
    sizes = num_decode_sizes(batch_limits(version, view.card_bytes, layout.tp).graph_batch)
    largest = prefill_tokens(version, view.card, view.parts.arch, layout, tokens)
    size = len(view.layers) * sizes * DECODE_BYTES + PREFILL_SETS * forward_peak_bytes(view, largest)
    trace = f"{sizes} decode batches, prefill up to {largest:,} tokens"
    return banded("cuda_graphs", size, (LOW, HIGH), "assumed", trace)


def places_line(requests: int, max_model_len: int) -> Line:
    """The table from requests to the places of their tokens, allocated after the pool."""
    size = (requests + 1) * (max_model_len + SPARE_PLACES) * PLACE_BYTES
    return exact("other", size, f"{requests:,} requests x {max_model_len:,} places")


def vision_line(version: Version, view: RankView) -> Line:
    """The cache of image embeddings, reserved before the pool is sized."""
    is_reserved = bool(view.parts.arch.towers) and version >= FIRST_WITH_VISION_RESERVE
    return exact("multimodal", VISION_CACHE_BYTES if is_reserved else 0, "image embeddings kept for reuse")
