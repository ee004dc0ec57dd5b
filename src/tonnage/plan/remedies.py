"""Changes that help, each checked by evaluating it before it is offered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tonnage.errors import TonnageError
from tonnage.layout.layout import Layout
from tonnage.memory.engine import Limits
from tonnage.plan.choose import choose
from tonnage.plan.desk import Desk
from tonnage.plan.evaluate import Evaluation, evaluate
from tonnage.plan.fleets import find_card, sized
from tonnage.plan.layouts import attention_replicas, candidate_layouts
from tonnage.plan.verdict import judge

SHOWN = 4
BATCH_DIVISOR = 8  # a batch of an eighth is still larger than any kernel needs to be efficient
SMALLEST_BATCH = 2048  # vLLM's own default on small cards
LARGER_CARDS = ("H200", "MI300X", "B200", "MI355X", "B300")  # by memory, smallest first


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change, as question fields, and what it gives."""

    change: dict[str, Any]
    effect: str
    fits: bool
    concurrency: float

    def record(self) -> dict[str, Any]:
        """The contract's remedy."""
        return {"change": self.change, "effect": self.effect, "fits": self.fits}


def find_remedies(desk: Desk, found: Evaluation | None, fits: bool) -> list[dict[str, Any]]:
    """Checked changes: those that make a no into a yes, or those that hold clearly more requests."""
    base = found.busiest.pool.concurrency * found.job.layout.dp if found and fits else 0.0
    useful = [r for r in _tried(desk, found, fits) if r.fits and r.concurrency > base]
    return [remedy.record() for remedy in useful[:SHOWN]]


def _tried(desk: Desk, found: Evaluation | None, fits: bool) -> Iterator[Remedy]:
    if found is not None:
        yield from _limit_changes(desk, found, fits)
        yield from _layout_changes(desk, found)
    if not fits:
        yield from _other_questions(desk)


def _limit_changes(desk: Desk, found: Evaluation, fits: bool) -> Iterator[Remedy]:
    layout, limits, serving = found.job.layout, desk.limits, found.serving
    context = found.busiest.pool.max_context
    if not fits and context > 0:
        yield from _limits(desk, layout, {"max_model_len": context}, replace(limits, max_model_len=context))
    smaller = max(SMALLEST_BATCH, serving.max_num_batched_tokens // BATCH_DIVISOR)
    if not fits and smaller < serving.max_num_batched_tokens:
        change = {"max_num_batched_tokens": smaller}
        yield from _limits(desk, layout, change, replace(limits, max_num_batched_tokens=smaller))
    if not serving.kv_dtype.startswith("fp8"):
        yield from _limits(desk, layout, {"kv_cache_dtype": "fp8"}, replace(limits, kv_dtype="fp8"))


def _limits(desk: Desk, layout: Layout, change: dict[str, Any], limits: Limits) -> Iterator[Remedy]:
    try:
        yield _remedy(change, evaluate(desk.job(layout, limits)))
    except TonnageError:
        return


def _layout_changes(desk: Desk, found: Evaluation) -> Iterator[Remedy]:
    arch, current = desk.model.parts.arch, found.job.layout
    replicas = attention_replicas(arch, current.world)
    others = [layout for layout in candidate_layouts(arch, desk.fleet) if layout != current][:SHOWN]
    for layout in [*([replicas] if replicas and replicas != current else []), *others]:
        change: dict[str, Any] = {"tp": layout.tp, "pp": layout.pp, "dp": layout.dp, "ep": layout.ep}
        if layout == replicas:
            change = {"dp_attention": True}
        yield from _limits(desk, layout, change, desk.limits)


def _other_questions(desk: Desk) -> Iterator[Remedy]:
    fleet = desk.fleet
    yield from _desks(
        {"nodes": fleet.nodes * 2, "gpu_count": fleet.num_cards * 2},
        lambda: desk.moved(sized(fleet, fleet.nodes * 2, fleet.count)),
    )
    yield from _desks({"quantization": "fp8"}, lambda: desk.stored_as("fp8"))
    for name in LARGER_CARDS:
        card = find_card(name)
        if card.capacity_bytes > (fleet.accelerator.memory_bytes or 0):
            yield from _desks({"gpu": name}, lambda card=card: desk.moved(replace(fleet, accelerator=card)))
    yield from _desks({"quantization": "int4"}, lambda: desk.stored_as("int4"))


def _desks(change: dict[str, Any], make: Callable[[], Desk]) -> Iterator[Remedy]:
    try:
        yield _remedy(change, choose(make()).found)
    except TonnageError:
        return


def _remedy(change: dict[str, Any], found: Evaluation) -> Remedy:
    pool, verdict = found.busiest.pool, judge(found)
    total = pool.concurrency * found.job.layout.dp
    effect = f"{found.job.layout.words}: {total:.1f} requests at {found.serving.max_model_len:,} tokens"
    return Remedy(change, effect if verdict.fits else verdict.reason, verdict.fits, total)
