"""Memory of captured CUDA or HIP graphs."""

from __future__ import annotations

from tonnage.engines.vllm.version import FIRST_V1, Version
from tonnage.figure import banded, exact
from tonnage.units import MIB, round_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.figure import Line
    from tonnage.memory.rank_view import RankView
    from tonnage.memory.serving import Serving

# Largest captured batch (vLLM `config/vllm.py` _set_cudagraph_sizes; V0: `worker/model_runner.py`).
CEILING_V0, CEILING, CEILING_SM100 = 256, 512, 1024
SM100_FAMILY = ("sm_100", "sm_103")
FIRST_WITH_SM100_CEILING = Version(0, 28)
FIRST_WITH_FULL_BATCH = Version(0, 28)  # the token limit of a step is captured too
FIRST_WITH_SEQS_BOUND = Version(0, 11)
FIRST_WITH_WIDE_STEP = Version(0, 14)
SMALL_SIZES = (1, 2, 4)
STEP = 8
WIDE_STEP, WIDE_FROM = 16, 256
# Bytes per layer and captured size. Start-up logs of 18 models (0.12 to 0.29) give 0.1 to 1.6 MB, median 0.45 MB.
LAYER_SIZE_BYTES = 450_000
# The first graph brings the pool and the libraries' workspaces: 16 starts on NVIDIA cards with few small graphs
# (product below 330 MB) took 0.09 to 1.09 GiB, median 0.56.
FIRST_GRAPH_BYTES = 450 * MIB
LOW, HIGH = 0.3, 3.0


def capture_sizes(version: Version, serving: Serving, target: str) -> frozenset[int]:
    """The batch sizes captured by default on an architecture such as `sm_90` or `gfx942`, in tokens."""
    ceiling = CEILING_SM100 if version >= FIRST_WITH_SM100_CEILING and target in SM100_FAMILY else CEILING
    largest = _largest(version, serving, ceiling)
    wide_from = WIDE_FROM if version >= FIRST_WITH_WIDE_STEP else largest + 1
    sizes = {size for size in SMALL_SIZES if size <= largest}
    sizes.update(range(STEP, min(largest + 1, wide_from), STEP), range(wide_from, largest + 1, WIDE_STEP))
    if version >= FIRST_WITH_FULL_BATCH and serving.max_num_batched_tokens <= ceiling:
        sizes.add(serving.max_num_batched_tokens)
    return frozenset(sizes)


def _largest(version: Version, serving: Serving, ceiling: int) -> int:
    if version < FIRST_V1:
        seqs = serving.max_num_seqs
        return next((size for size in SMALL_SIZES if size >= seqs), min(round_up(seqs, STEP), CEILING_V0))
    asked = 2 * serving.max_num_seqs if version >= FIRST_WITH_SEQS_BOUND else ceiling
    return min(asked, ceiling, serving.max_num_batched_tokens)


def graph_line(view: RankView, version: Version) -> Line:
    """Graph memory of the rank; nothing when running eagerly."""
    if view.serving.eager:
        return exact("cuda_graphs", 0, "eager: no graphs are captured")
    sizes = len(capture_sizes(version, view.serving, view.card.target or ""))
    size = max(FIRST_GRAPH_BYTES, sizes * len(view.layers) * LAYER_SIZE_BYTES)
    trace = f"{sizes} captured sizes x {len(view.layers)} layers x {LAYER_SIZE_BYTES:,} B, or the first graph's pool"
    return banded("cuda_graphs", size, (LOW, HIGH), "assumed", trace)
