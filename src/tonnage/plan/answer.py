"""The answer of `fit` in the shape of the JSON contract."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tonnage.catalog.fleet import Fleet
    from tonnage.figure import Line
    from tonnage.layout.layout import Layout
    from tonnage.plan.evaluate import Evaluation, RankResult
    from tonnage.plan.models import Model
    from tonnage.plan.verdict import Verdict


def line_record(line: Line) -> dict[str, Any]:
    """One line of a ledger, its band in bytes."""
    record = {"name": line.name, "bytes": line.bytes, "low": line.low, "high": line.high, "basis": line.basis}
    return record | ({"trace": line.trace} if line.trace else {})


def rank_record(result: RankResult) -> dict[str, Any]:
    """One rank's ledger in bytes."""
    ledger = result.ledger
    return {
        "rank": ledger.rank,
        "card_bytes": ledger.card_bytes,
        "budget_bytes": ledger.budget_bytes,
        "lines": [line_record(line) for line in ledger.lines],
        "free_bytes": ledger.free_bytes,
        "host_bytes": result.host_bytes,
    }


def layout_record(layout: Layout) -> dict[str, Any]:
    """A layout with the names of the engines' flags."""
    return {
        "tp": layout.tp,
        "pp": layout.pp,
        "dp": layout.dp,
        "ep": layout.ep,
        "dcp": layout.dcp,
        "dp_attention": layout.dp_inside_tp or (layout.dp > 1 and layout.tp == 1),
        "words": layout.words,
    }


def head_record(model: Model, fleet: Fleet, layout: Layout | None) -> dict[str, Any]:
    """What was asked about: model, fleet and layout."""
    card = fleet.accelerator
    return {
        "model": model.record(),
        "fleet": {"nodes": fleet.nodes, "count": fleet.count, "accelerator": card.id, "name": card.name},
        "layout": layout_record(layout) if layout else None,
    }


def numbers_record(found: Evaluation) -> dict[str, Any]:
    """Every number of an evaluation, whatever the verdict."""
    rank = found.busiest
    pool, layout = rank.pool, found.job.layout
    replicas = layout.dp
    return {
        "ranks": [rank_record(result) for result in found.ranks],
        "busiest_rank": rank.view.rank,
        "weights_bytes_per_rank": found.weights_bytes,
        "kv_cache_bytes_per_rank": pool.pool_bytes,
        "kv_bytes_per_token_per_rank": pool.token_bytes,
        "state_bytes_per_request_per_rank": pool.state_bytes,
        "kv_cache_tokens": pool.tokens,
        "max_concurrency_x": round(pool.concurrency, 4),
        "concurrency_all_replicas": round(pool.concurrency * replicas, 4),
        "kv_needed_bytes": pool.needed_bytes,
        "max_context": pool.max_context,
        "load_peak_bytes": found.load_peak_bytes,
        "serving": {
            "max_model_len": found.serving.max_model_len,
            "max_num_seqs": found.serving.max_num_seqs,
            "max_num_batched_tokens": found.serving.max_num_batched_tokens,
            "kv_cache_dtype": found.serving.kv_dtype,
            "fraction": found.serving.fraction,
            "block_size": pool.block_size,
        },
    }


def tiers_record(found: Evaluation, fleet: Fleet, host_memory_bytes: int | None) -> dict[str, Any]:
    """Where one node keeps the model: cards, host memory, and disk for what the host cannot hold.

    `host_memory_bytes` of a node is None where it is not known; then nothing is sent to disk.
    """
    here = found.ranks[: fleet.count]
    on_host = sum(result.host_bytes for result in here)
    on_disk = 0 if host_memory_bytes is None else max(0, on_host - host_memory_bytes)
    return {
        "tiers": {
            "hbm_bytes": sum(result.ledger.used_bytes for result in here),
            "host_bytes": on_host - on_disk,
            "disk_bytes": on_disk,
            "host_memory_bytes": host_memory_bytes,
        }
    }


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """The yes or no and its sentence."""
    return {"fits": verdict.fits, "verdict": verdict.name, "reason": verdict.reason}
