"""Batch sizes and token counts for which SGLang captures graphs (`arg_groups/cuda_graph_hook.py`)."""

from __future__ import annotations

from tonnage.engines.sglang.version import Version
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.layout.layout import Layout
    from tonnage.model.arch import Arch

FIRST_WITH_PREFILL_GRAPHS = Version(0, 5, 10)
LATENT_PREFILL_TOKENS = 2048  # largest captured prefill of latent attention
# Steps of the captured sizes: up to the bound, in steps of.
DECODE_STEPS = ((8, 1), (256, 8), (512, 16))
DECODE_LAST_STEP = 32
PREFILL_STEPS = ((32, 4), (256, 16), (512, 32), (1024, 64), (4096, 256))
PREFILL_LAST_STEP = 512


def num_decode_sizes(largest: int) -> int:
    """How many decode batches up to `largest` are captured."""
    return _num_sizes(largest, DECODE_STEPS, DECODE_LAST_STEP)


def num_prefill_sizes(largest: int) -> int:
    """How many prefill sizes up to `largest` tokens are captured."""
    return _num_sizes(largest, PREFILL_STEPS, PREFILL_LAST_STEP)


def _num_sizes(largest: int, steps: tuple[tuple[int, int], ...], last_step: int) -> int:
    total, start = 0, 0
    for bound, step in steps:
        total += max(0, min(largest, bound) - start) // step
        start = bound
    return total + max(0, largest - start) // last_step


def prefill_tokens(version: Version, card: Accelerator, arch: Arch, layout: Layout, chunk_tokens: int) -> int:
    """Tokens of the largest captured prefill; 0 where prefill runs without graphs.

    Graphs of prefill exist for text models on NVIDIA cards without pipeline stages and data-parallel attention.
    """
    captures = version >= FIRST_WITH_PREFILL_GRAPHS and card.vendor == "nvidia"
    if not captures or arch.towers or layout.pp > 1 or layout.dp_inside_tp:
        return 0
    return min(LATENT_PREFILL_TOKENS, chunk_tokens) if is_latent(arch) else chunk_tokens


def is_latent(arch: Arch) -> bool:
    """Whether the model runs on the latent attention back ends."""
    return arch.has_mixer(Mla)
