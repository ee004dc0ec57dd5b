"""Memory of captured CUDA or HIP graphs."""

from __future__ import annotations

from tonnage.engines.vllm.version import Version
from tonnage.figure import Line, exact
from tonnage.memory.rank_view import RankView

CEILING, CEILING_SM100 = 512, 1024  # largest captured batch (vLLM `config/vllm.py` _set_cudagraph_sizes)
SM100_FAMILY = ("sm_100", "sm_103")
FIRST_WITH_SM100_CEILING = Version(0, 28)
FIRST_WITH_SEQS_BOUND = Version(0, 11)
FIRST_WITH_WIDE_STEP = Version(0, 14)
SMALL_SIZES = 3  # 1, 2 and 4
STEP = 8
WIDE_STEP, WIDE_FROM = 16, 256
# Bytes per layer and captured size. Start-up logs of 18 models (0.12 to 0.29) give 0.1 to 1.6 MB, median 0.45 MB.
LAYER_SIZE_BYTES = 450_000
LOW, HIGH = 0.3, 3.0


def num_sizes(version: Version, max_num_seqs: int, target: str) -> int:
    """How many batch sizes are captured by default."""
    ceiling = CEILING_SM100 if version >= FIRST_WITH_SM100_CEILING and target in SM100_FAMILY else CEILING
    largest = min(2 * max_num_seqs, ceiling) if version >= FIRST_WITH_SEQS_BOUND else ceiling
    if version < FIRST_WITH_WIDE_STEP or largest < WIDE_FROM:
        return SMALL_SIZES + largest // STEP
    return SMALL_SIZES + WIDE_FROM // STEP - 1 + (largest - WIDE_FROM) // WIDE_STEP + 1


def graph_line(view: RankView, version: Version) -> Line:
    """Graph memory of the rank; nothing when running eagerly."""
    if view.serving.eager:
        return exact("cuda_graphs", 0, "eager: no graphs are captured")
    sizes = num_sizes(version, view.serving.max_num_seqs, view.card.target or "")
    size = sizes * len(view.layers) * LAYER_SIZE_BYTES
    trace = f"{sizes} captured sizes x {len(view.layers)} layers x {LAYER_SIZE_BYTES:,} B"
    return Line("cuda_graphs", size, int(size * LOW), int(size * HIGH), "assumed", trace)
