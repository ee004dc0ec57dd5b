"""A prediction beside a measurement, and what counts as right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tonnage.units import GIB

Number = int | float
Kind = Literal["relative", "pool", "verdict"]

NEAR = 0.03  # beyond what rounding in a log explains
EXACT_WEIGHTS, EXACT_CACHE = 0.001, 0.005  # the engine's own modules round nothing
# What a start of the same command differs by from one run to the next: leftovers of other processes, graph capture.
POOL_BYTES, POOL_SHARE = 3 * GIB // 2, 0.08


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the table. `limit` is the relative error that counts as right."""

    key: str
    title: str
    kind: Kind = "relative"
    limit: float = NEAR


METRICS = (
    Metric("vllm_weights", "vLLM: weights per rank"),
    Metric("vllm_pool", "vLLM: size of the KV cache", "pool", POOL_SHARE),
    Metric("vllm_tokens", "vLLM: tokens in a given cache"),
    Metric("vllm_concurrency", "vLLM: concurrency of a given cache"),
    Metric("vllm_needed", "vLLM: cache of one request at full length"),
    Metric("vllm_context", "vLLM: longest request in a given cache"),
    Metric("vllm_refused", "vLLM: too small a cache is refused", "verdict"),
    Metric("vllm_started", "vLLM: started, and we say it fits", "verdict"),
    Metric("vllm_stopped", "vLLM: did not start, and we say no", "verdict"),
    Metric("sglang_weights", "SGLang: weights per rank"),
    Metric("sglang_tokens", "SGLang: tokens in a given cache"),
    Metric("llamacpp_file", "llama.cpp: size of the weights"),
    Metric("llamacpp_kv", "llama.cpp: size of the KV cache"),
    Metric("oracle_weights", "vLLM's own modules: weights of a rank", limit=EXACT_WEIGHTS),
    Metric("oracle_concurrency", "vLLM's own modules: concurrency of a given cache", limit=EXACT_CACHE),
)
BY_KEY = {metric.key: metric for metric in METRICS}


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen and what was predicted (None: not answered), in the unit of the metric: bytes, tokens, requests."""

    metric: str
    row: str
    seen: Number | bool
    predicted: Number | bool | None
    error_line: str | None = None

    @property
    def error(self) -> float | None:
        """Relative error; None where nothing was predicted or the answer is a yes or no."""
        if self.predicted is None or BY_KEY[self.metric].kind == "verdict":
            return None
        return abs(self.predicted - self.seen) / self.seen

    @property
    def is_right(self) -> bool:
        """Whether the prediction counts as right."""
        metric = BY_KEY[self.metric]
        if self.predicted is None:
            return False
        if metric.kind == "verdict":
            return self.predicted is self.seen
        if metric.kind == "pool":
            return abs(self.predicted - self.seen) <= max(POOL_BYTES, metric.limit * self.seen)
        return (self.error or 0.0) <= metric.limit
