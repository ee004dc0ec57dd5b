"""Yes or no, and the sentence that says why."""

from __future__ import annotations

from tonnage.errors import UnsupportedError
from tonnage.units import render_gib
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.errors import LayoutError
    from tonnage.plan.evaluate import Evaluation

    VerdictName = Literal[
        "fits", "weights-exceed-card", "load-peak-exceeds-card", "kv-too-small", "layout-invalid", "unsupported"
    ]


@value
class Verdict:
    """`name` as the JSON contract lists it, and one sentence for people."""

    name: VerdictName
    reason: str

    @property
    def fits(self) -> bool:
        """Whether the answer is yes."""
        return self.name == "fits"


def judge(found: Evaluation) -> Verdict:
    """The first obstacle in the order in which a start meets them: weights, loading, cache, requested concurrency."""
    rank = found.busiest
    if found.refusal is not None:
        return refuse(found.refusal)
    if found.serving.kv_bytes is None:
        obstacle = _loading_obstacle(found)
        if obstacle:
            return obstacle
    pool, serving = rank.pool, found.serving
    if not pool.fits:
        return Verdict("kv-too-small", _small_pool(found))
    if serving.concurrency and pool.concurrency < serving.concurrency:
        reason = (
            f"the cache holds {pool.concurrency:.1f} requests of {serving.max_model_len:,} tokens,"
            f" {serving.concurrency} were asked for"
        )
        return Verdict("kv-too-small", reason)
    room = min(r.ledger.free_bytes for r in found.ranks)
    return Verdict("fits", f"{found.job.layout.words} leaves {render_gib(room)} free on the fullest card")


def refuse(reason: LayoutError) -> Verdict:
    """The verdict on a layout or format that the engine does not take."""
    return Verdict("unsupported" if isinstance(reason, UnsupportedError) else "layout-invalid", reason.line)


def _loading_obstacle(found: Evaluation) -> Verdict | None:
    heaviest = max(found.ranks, key=lambda r: r.weights_bytes)
    card = heaviest.ledger.card_bytes
    if heaviest.weights_bytes > card:
        reason = f"weights need {render_gib(heaviest.weights_bytes)} a card, the card has {render_gib(card)}"
        return Verdict("weights-exceed-card", reason)
    if found.load_peak_bytes > card:
        reason = f"loading reaches {render_gib(found.load_peak_bytes)} a card, the card has {render_gib(card)}"
        return Verdict("load-peak-exceeds-card", reason)
    return None


def _small_pool(found: Evaluation) -> str:
    rank = found.busiest
    if rank.pool.obstacle is not None:
        return f"rank {rank.view.rank}: {rank.pool.obstacle}"
    if rank.pool.pool_bytes <= 0:
        overheads = rank.ledger.used_bytes - rank.ledger.bytes_of("kv_cache")
        budget = render_gib(rank.ledger.budget_bytes)
        return f"rank {rank.view.rank} needs {render_gib(overheads)} before any cache, its budget is {budget}"
    return (
        f"rank {rank.view.rank} has {render_gib(rank.pool.pool_bytes)} for the cache, one request of"
        f" {found.serving.max_model_len:,} tokens needs {render_gib(rank.pool.needed_bytes)}"
    )
