"""Why an answer is no, in a few words for a column of a table."""

from __future__ import annotations

from tonnage.units import GIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.fleet import Fleet
    from tonnage.errors import LayoutError
    from tonnage.plan.evaluate import Evaluation


def brief_obstacle(found: Evaluation) -> str:
    """What the first obstacle of an evaluation that does not fit needs, and what of it there is, in GiB of one card."""
    if found.refusal is not None:
        return brief_refusal(found.refusal)
    rank, card = found.busiest, found.job.card_bytes
    pool, serving = rank.pool, found.serving
    if found.weights_bytes > card:
        return f"weights {_of(found.weights_bytes, card)}"
    if found.load_peak_bytes > card:
        return f"loading {_of(found.load_peak_bytes, card)}"
    if pool.pool_bytes <= 0:
        overheads = rank.ledger.used_bytes - rank.ledger.bytes_of("kv_cache")
        return f"no cache: {_of(overheads, rank.ledger.budget_bytes)}"
    if pool.fits and serving.concurrency:
        return f"{pool.concurrency:.1f} of {serving.concurrency} requests fit"
    return f"a request {_of(pool.needed_bytes, pool.pool_bytes)}"


def brief_refusal(refusal: LayoutError) -> str:
    """What the engine refuses."""
    return f"refused: {refusal.seen}"


def brief_total(weights_bytes: int, fleet: Fleet) -> str:
    """Weights against all cards together."""
    held = fleet.num_cards * fleet.accelerator.capacity_bytes
    return f"{fleet.num_cards} hold {held / GIB:,.0f} of {weights_bytes / GIB:,.0f} GiB"


def _of(needed: int, available: int) -> str:
    return f"{needed / GIB:,.1f} of {available / GIB:,.1f} GiB"
