"""mem_fraction_static: the share of free memory for weights and caches, and its automatic value.

Sources: SGLang `server_args.py` (0.4.6, 0.5.3, 0.5.10), `arg_groups/memory_hook.py` (0.5.23).
"""

from __future__ import annotations

from tonnage.engines.sglang.batch import FIRST_WITH_TIERS
from tonnage.engines.sglang.graph_sizes import is_latent, num_prefill_sizes, prefill_tokens
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.units import GIB, MIB
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.engines.sglang.batch import BatchLimits
    from tonnage.engines.sglang.version import Version
    from tonnage.layout.layout import Layout
    from tonnage.model.arch import Arch, Tower

# Up to 0.4: by tensor-parallel size, and more on cards above 96 GiB.
OLD_FRACTIONS = ((16, 0.79), (8, 0.81), (4, 0.85), (2, 0.87), (1, 0.88))
OLD_LARGE_CARD, OLD_GROWTH, OLD_RESERVE = 96 * GIB, 48 * GIB, 18 * GIB
# From 0.5: what is set aside, in MiB.
CONSTANT_MIB, LEAST_TOKENS, PARALLEL_MIB, PARALLEL_RANKS = 512, 2048, 1024, 8
HALF_MIB_PER_TOKEN = 3  # 1.5 MiB for each token of a chunk
MIB_PER_DECODE, MIB_PER_DP_DECODE, MIB_PER_PREFILL_SIZE, LATENT_PREFILL_MIB = 2, 3, 8, 1536
LARGE_DP_BATCH = 300  # above it data-parallel attention sets half as much aside again
FLOOR_CARD, FLOOR_MIB = 60 * GIB, 10 * 1024
DIGITS = 3
# Vision models: 0.95, changed by a tenth for each time the encoder is as heavy as ViT-L/14.
VISION_FACTOR, VISION_SLOPE, VISION_LEAST, VISION_MOST = 0.95, 0.1, 0.8, 1.05
VIT_LAYERS, VIT_HIDDEN = 24, 1024
# Encoders whose configuration counts its blocks as `depth`, which SGLang does not read: it takes its default.
DEPTH_FAMILIES = ("qwen", "glm")
# The AITER back end of ROCm needs a workspace outside the static share (SGLang `server_args.py`).
AITER_FACTOR, AITER_CONTEXT = 0.85, 8192
AITER_LATENT_HEADS = (16, 128)  # heads of a rank that AITER's latent kernels take


@value
class Start:
    """What decides the automatic fraction: version, card and its size in bytes, model, layout, batches."""

    version: Version
    card: Accelerator
    card_bytes: int
    arch: Arch
    layout: Layout
    batch: BatchLimits
    max_model_len: int


def static_fraction(start: Start, asked: float | None) -> float:
    """The fraction in effect: `asked` or the automatic value, lowered where the AITER back end serves."""
    fraction = asked if asked is not None else _automatic(start)
    return fraction * AITER_FACTOR if _uses_aiter(start) else fraction


def _automatic(start: Start) -> float:
    if start.version < FIRST_WITH_TIERS:
        return _old_fraction(start)
    total = start.card_bytes / MIB
    fraction = round((total - _reserved_mib(start)) / total, DIGITS)
    return fraction * vision_factor(start.arch.towers, start.arch.family)


def _old_fraction(start: Start) -> float:
    world = start.layout.tp
    fraction = next(value for ranks, value in OLD_FRACTIONS if world >= ranks)
    total = start.card_bytes
    if total <= OLD_LARGE_CARD:
        return fraction
    return min(fraction + OLD_GROWTH * (1 - fraction) / total, (total - OLD_RESERVE) / total)


def _reserved_mib(start: Start) -> float:
    batch, layout = start.batch, start.layout
    reserved = CONSTANT_MIB + max(batch.chunk_tokens, LEAST_TOKENS) * HALF_MIB_PER_TOKEN / 2
    reserved += layout.tp * layout.pp / PARALLEL_RANKS * PARALLEL_MIB + batch.graph_batch * MIB_PER_DECODE
    if layout.dp_inside_tp:
        share = batch.graph_batch * layout.dp * MIB_PER_DP_DECODE
        reserved += share + (share / 2 if batch.graph_batch > LARGE_DP_BATCH else 0)
    reserved += _prefill_mib(start)
    return max(reserved, FLOOR_MIB) if start.card_bytes > FLOOR_CARD else reserved


def _prefill_mib(start: Start) -> int:
    largest = prefill_tokens(start.version, start.card, start.arch, start.layout, start.batch.chunk_tokens)
    if not largest:
        return 0
    return LATENT_PREFILL_MIB if is_latent(start.arch) else num_prefill_sizes(largest) * MIB_PER_PREFILL_SIZE


def vision_factor(towers: tuple[Tower, ...], family: str) -> float:
    """By what the fraction shrinks for an encoder; 1 without one."""
    tower = next((tower for tower in towers if tower.kind.startswith("vision")), None)
    if tower is None:
        return 1.0
    layers = VIT_LAYERS if any(name in family for name in DEPTH_FAMILIES) else tower.layers
    weight = layers * tower.hidden**2 / (VIT_LAYERS * VIT_HIDDEN**2)
    return VISION_FACTOR * max(VISION_LEAST, min(VISION_MOST, 1 - VISION_SLOPE * (weight - 1)))


def _uses_aiter(start: Start) -> bool:
    if start.card.vendor != "amd" or start.max_model_len <= AITER_CONTEXT:
        return False
    latent = [mixer for mixer in start.arch.mixers if isinstance(mixer, Mla)]
    if any(mixer.indexer or mixer.is_sparse for mixer in latent):
        return False
    width = start.layout.tp // (start.layout.dp if start.layout.dp_inside_tp else 1)
    if latent:
        return all(mixer.heads // width in AITER_LATENT_HEADS for mixer in latent)
    return start.arch.has_mixer(Gqa)
