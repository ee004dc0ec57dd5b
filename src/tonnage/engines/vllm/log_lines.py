"""From the figures of one vLLM worker to the lines of its ledger."""

from __future__ import annotations

from tonnage.memory.receipt import RankReceipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tonnage.figure import Line
    from tonnage.memory.amount import Amount

    Amounts = Mapping[str, list[Amount]]


def rank_receipt(speaker: str, amounts: Amounts, estimate: Amount | None) -> RankReceipt:
    """The worker's lines; `estimate` is what the engine set aside for graphs while it profiled."""
    total = _last(amounts, "total")
    return RankReceipt(speaker, tuple(_lines(amounts, estimate)), total.bytes if total else None)


def _lines(amounts: Amounts, estimate: Amount | None) -> Iterator[Line]:
    found = {
        "weights": _weights(amounts),
        "activations": _activations(amounts, estimate),
        "context": _context(amounts),
        "cuda_graphs": _graphs(amounts),
        "kv_cache": _last(amounts, "kv") or _last(amounts, "kv_in_use"),
    }
    if found["weights"]:
        yield found["weights"].line("weights", "loaded model")
    if found["activations"]:
        yield found["activations"].line("activations", "peak of the profiling run over the weights")
    if found["context"]:
        yield found["context"].line("context", "outside the allocator: runtime and communication together")
    if found["cuda_graphs"]:
        yield found["cuda_graphs"].line("cuda_graphs", "captured graphs")
    if found["kv_cache"]:
        yield found["kv_cache"].line("kv_cache", "left for the cache")


def _last(amounts: Amounts, *names: str) -> Amount | None:
    """The amount that was printed last, of the first name that was printed at all."""
    return next((amounts[name][-1] for name in names if amounts.get(name)), None)


def _weights(amounts: Amounts) -> Amount | None:
    # The loader prints two to four digits, the accounts of the profiler only two.
    return _last(amounts, "weights", "weights_stated")


def _activations(amounts: Amounts, estimate: Amount | None) -> Amount | None:
    stated = _last(amounts, "activations")
    if stated is not None:
        return stated
    peak, weights = _last(amounts, "torch_peak"), _weights(amounts)
    if peak is not None and weights is not None:
        return peak.minus(weights)  # 0.6 counts the weights into the peak
    return _summary_peak(amounts, estimate)


def _summary_peak(amounts: Amounts, estimate: Amount | None) -> Amount | None:
    """The peak in the summary after capture; newer versions count the estimate of the graphs into it."""
    peak = _last(amounts, "summary_peak")
    if peak is None or estimate is None or not _holds_estimate(amounts, estimate):
        return peak
    return peak.minus(estimate)


def _holds_estimate(amounts: Amounts, estimate: Amount) -> bool:
    """Whether budget = weights + rest + peak + cache holds without the estimate being added.

    The same start printed 36.74 GiB as peak with an estimate of 33.06 and a profiled peak of 3.68.
    """
    budget, cache, peak = _last(amounts, "budget"), _last(amounts, "kv", "kv_in_use"), _last(amounts, "summary_peak")
    consumed = _consumed(amounts)
    if budget is None or cache is None or peak is None or consumed is None:
        return "consumed" in amounts  # this wording came with the counting
    gap = budget.bytes - cache.bytes - peak.bytes - consumed.bytes
    return 2 * gap < estimate.bytes


def _consumed(amounts: Amounts) -> Amount | None:
    both = _last(amounts, "consumed")
    weights, rest = _weights(amounts), _last(amounts, "non_torch")
    if both is None and weights is not None and rest is not None:
        return weights.plus(rest)
    return both


def _context(amounts: Amounts) -> Amount | None:
    stated = _last(amounts, "non_torch")
    both, weights = _last(amounts, "consumed"), _weights(amounts)
    if stated is None and both is not None and weights is not None:
        return both.minus(weights)
    return stated


def _graphs(amounts: Amounts) -> Amount | None:
    found = _last(amounts, "graphs", "graphs_used")
    return None if found is None or found.bytes < 0 else found
