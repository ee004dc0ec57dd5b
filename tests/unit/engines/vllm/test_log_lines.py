"""From a worker's figures to its ledger lines."""

from __future__ import annotations

from tonnage.engines.vllm.log_lines import rank_receipt
from tonnage.memory.amount import Amount


def amounts(**sizes: int) -> dict[str, list[Amount]]:
    """Amounts of one byte's precision."""
    return {name: [Amount(size, size - 1, size + 1)] for name, size in sizes.items()}


def lines(estimate: int | None = None, **sizes: int) -> dict[str, int]:
    """Line names and bytes."""
    set_aside = None if estimate is None else Amount(estimate, estimate, estimate)
    return {line.name: line.bytes for line in rank_receipt("r", amounts(**sizes), set_aside).lines}


def test_the_loader_is_finer_than_the_profiler() -> None:
    assert lines(weights=1001, weights_stated=1000) == {"weights": 1001}
    assert lines(weights_stated=1000) == {"weights": 1000}


def test_bands_of_a_difference() -> None:
    rank = rank_receipt("r", amounts(weights=100, torch_peak=150), None)
    line = next(line for line in rank.lines if line.name == "activations")
    assert (line.low, line.bytes, line.high) == (48, 50, 52)


def test_consumed_is_weights_and_the_rest() -> None:
    assert lines(weights=80, consumed=84)["context"] == 4
    assert "context" not in lines(consumed=84)  # without the weights it cannot be split


def test_the_profiled_peak_goes_before_the_summary() -> None:
    assert lines(activations=7, summary_peak=40)["activations"] == 7


def test_whether_the_peak_holds_the_estimate() -> None:
    # budget 100 = consumed 50 + peak 20 + cache 30: the estimate of 15 is inside the peak
    whole = {"weights": 48, "consumed": 50, "summary_peak": 20, "kv": 30, "budget": 100}
    assert lines(15, **whole)["activations"] == 5
    # budget 100 = 50 + 5 + 30 + 15: it is beside it
    assert lines(15, **{**whole, "summary_peak": 5})["activations"] == 5
    # the budget is not printed: the wording decides
    assert lines(15, **{k: v for k, v in whole.items() if k != "budget"})["activations"] == 5
    assert lines(15, weights=48, non_torch=2, summary_peak=20)["activations"] == 20
    assert lines(None, **whole)["activations"] == 20


def test_graphs() -> None:
    assert lines(graphs=3, graphs_used=4)["cuda_graphs"] == 3
    assert lines(graphs_used=4)["cuda_graphs"] == 4
    assert "cuda_graphs" not in lines(graphs=-1)  # another process gave memory back meanwhile


def test_cache() -> None:
    assert lines(kv=3, kv_in_use=4)["kv_cache"] == 3
    assert lines(kv_in_use=4)["kv_cache"] == 4
    assert lines(kv=-2)["kv_cache"] == 0  # nothing is left


def test_card() -> None:
    assert rank_receipt("r", amounts(total=80), None).card_total_bytes == 80
    assert rank_receipt("r", {}, None).card_total_bytes is None
