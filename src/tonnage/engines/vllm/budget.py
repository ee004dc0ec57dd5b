"""How much of the card vLLM allows itself."""

from __future__ import annotations

from tonnage.engines.vllm.version import Version

UTILIZATION, UTILIZATION_OLD = 0.92, 0.90  # default of gpu_memory_utilization since 0.20, and before
FIRST_WITH_HIGH_DEFAULT = Version(0, 20)
FIRST_WITH_GRAPHS_INSIDE = Version(0, 20)  # VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS on by default


def default_utilization(version: Version) -> float:
    """gpu_memory_utilization when it is not given (vLLM `config/cache.py`)."""
    return UTILIZATION if version >= FIRST_WITH_HIGH_DEFAULT else UTILIZATION_OLD


def budget_bytes(card_bytes: int, fraction: float) -> int:
    """The requested share of the memory the driver reports (vLLM `v1/worker/utils.py` request_memory)."""
    return int(-(-card_bytes * fraction // 1))


def counts_graphs(version: Version) -> bool:
    """Whether graph memory is subtracted from the budget; before, it lives in the rest of the card."""
    return version >= FIRST_WITH_GRAPHS_INSIDE
