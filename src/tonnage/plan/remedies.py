"""Changes that help, each checked by asking the changed question before it is offered."""

from __future__ import annotations

from itertools import islice

from tonnage.catalog.fleet import Fleet
from tonnage.errors import TonnageError
from tonnage.plan.choose import choose
from tonnage.plan.desk import open_desk
from tonnage.plan.fleets import find_card
from tonnage.plan.layouts import attention_replicas, candidate_layouts
from tonnage.units import ceil_div
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tonnage.layout.layout import Layout
    from tonnage.plan.choose import Choice
    from tonnage.plan.desk import Desk
    from tonnage.plan.evaluate import Evaluation

    Change = dict[str, Any]

SHOWN = 4
LEAST_GAIN = 1.1  # what a further layout must hold against the one offered before it
TRIED = 4  # other layouts; each costs a whole evaluation
BATCH_DIVISOR = 8  # a batch of an eighth is still larger than any kernel needs to be efficient
SMALLEST_BATCH = 2048  # vLLM's own default on small cards
SMALLEST_REQUESTS = 16  # below, a card computes far less than it could
LARGER_CARDS = ("H200", "MI300X", "B200", "MI355X", "B300")  # by memory, smallest first


@value
class Remedy:
    """A change, as question fields, and what it gives."""

    change: Change
    choice: Choice

    @property
    def worth(self) -> tuple[int, float]:
        """What is compared: the longest request, then how many of them are held at once."""
        return worth_of(self.choice.found)

    def record(self) -> dict[str, Any]:
        """The contract's remedy; `layout`, `max_model_len` in tokens and `requests` at once are its effect in parts."""
        words = self.choice.found.job.layout.words
        length, total = self.worth
        return {
            "change": self.change,
            "effect": f"{words}: {total:.1f} requests at {length:,} tokens",
            "fits": self.choice.verdict.fits,
            "layout": words,
            "max_model_len": length,
            "requests": round(total, 4),
        }

    @property
    def is_layout(self) -> bool:
        """Whether it is another layout on the same cards."""
        return "tp" in self.change and "gpu" not in self.change


def worth_of(found: Evaluation) -> tuple[int, float]:
    """The longest request in tokens, and how many of them all replicas hold at once."""
    return found.serving.max_model_len, found.busiest.pool.concurrency * found.job.layout.dp


def find_remedies(desk: Desk, found: Evaluation | None, fits: bool) -> list[dict[str, Any]]:
    """Checked changes: those that make a no into a yes, or those that hold more than the start that fits."""
    least = worth_of(found) if found is not None and fits else (0, 0.0)
    useful = (remedy for remedy in _tried(desk, found, fits) if remedy.choice.verdict.fits and remedy.worth > least)
    return [remedy.record() for remedy in islice(_different(useful), SHOWN)]


def _different(remedies: Iterator[Remedy]) -> Iterator[Remedy]:
    """Layouts only where they beat the one before: whole experts or slices of them are hardly two choices."""
    best: tuple[int, float] = (0, 0.0)
    for remedy in remedies:
        if remedy.is_layout:
            if remedy.worth <= (best[0], best[1] * LEAST_GAIN):
                continue
            best = remedy.worth
        yield remedy


def _tried(desk: Desk, found: Evaluation | None, fits: bool) -> Iterator[Remedy]:
    for change in _changes(desk, found, fits):
        try:
            choice = choose(open_desk(replace(desk.question, **change)))
        except TonnageError:
            continue
        is_moved = "gpu" in change and desk.layout is not None
        yield Remedy(change | _layout_change(desk, choice.found.job.layout) if is_moved else change, choice)


def _changes(desk: Desk, found: Evaluation | None, fits: bool) -> Iterator[Change]:
    if fits:
        yield from _replica_changes(desk, found)
    if found is not None and found.weights_bytes < found.job.card_bytes:
        yield from _limit_changes(found, fits)
    if not fits:
        yield from _replica_changes(desk, found)
    yield from _layout_changes(desk, found.job.layout if found else desk.layout)
    if not fits:
        yield from _other_questions(desk, sum(rank.weights_bytes for rank in found.ranks) if found else 0)


def _limit_changes(found: Evaluation, fits: bool) -> Iterator[Change]:
    serving, context = found.serving, found.busiest.pool.max_context
    smaller = max(SMALLEST_BATCH, serving.max_num_batched_tokens // BATCH_DIVISOR)
    if not fits and context > 0:
        yield {"max_model_len": context}
    if not fits and smaller < serving.max_num_batched_tokens:
        yield {"max_num_batched_tokens": smaller}
    fewer = max(SMALLEST_REQUESTS, serving.max_num_seqs // BATCH_DIVISOR, serving.concurrency or 0)
    if not fits and fewer < serving.max_num_seqs:
        yield {"max_num_seqs": fewer}
    if not serving.kv_dtype.startswith("fp8"):
        yield {"kv_cache_dtype": "fp8"}


def _replica_changes(desk: Desk, found: Evaluation | None) -> Iterator[Change]:
    """Attention replicated, where every card holds a copy of the same latents."""
    current = found.job.layout if found else desk.layout
    world = current.world if current else desk.fleet.num_cards
    if not desk.question.dp_attention and attention_replicas(desk.model.parts.arch, world) not in (None, current):
        yield {"dp_attention": True}


def _layout_changes(desk: Desk, current: Layout | None) -> Iterator[Change]:
    others = (layout for layout in candidate_layouts(desk.model.parts.arch, desk.fleet) if layout != current)
    yield from (_layout_change(desk, layout) for layout in islice(others, TRIED))


def _layout_change(desk: Desk, layout: Layout) -> Change:
    """The fields that state `layout`, and those of the question that would contradict it, back at their defaults."""
    change: Change = {"tp": layout.tp, "pp": layout.pp, "dp": layout.dp, "ep": layout.ep}
    if desk.question.dcp is not None:
        change["dcp"] = layout.dcp
    return change | ({"dp_attention": False} if desk.question.dp_attention else {})


def _other_questions(desk: Desk, weights: int) -> Iterator[Change]:
    """More cards, larger cards, fewer bits; fleets whose cards together hold less than `weights` bytes are left out."""
    fleet, card = desk.fleet, desk.fleet.accelerator
    yield _fleet_change(desk, _grown(fleet, weights), card.name)
    yield {"quantization": "fp8"}
    for name in LARGER_CARDS:
        size = find_card(name).capacity_bytes
        if size > card.capacity_bytes and size * fleet.num_cards > weights:
            yield _fleet_change(desk, fleet, name)
    yield {"quantization": "int4"}


def _grown(fleet: Fleet, weights: int) -> Fleet:
    """Twice the cards, doubled again until they hold `weights` bytes; nodes are filled before others are added."""
    card, total = fleet.accelerator, 2 * fleet.num_cards
    while total * card.capacity_bytes <= weights:
        total *= 2
    nodes = max(fleet.nodes, ceil_div(total, card.cards_per_node or fleet.count))
    nodes = nodes if total % nodes == 0 else total // fleet.count
    return Fleet(nodes, total // nodes, card)


def _fleet_change(desk: Desk, fleet: Fleet, gpu: str) -> Change:
    """Other cards, for which a stated layout is open again."""
    opened: Change = {name: None for name in ("tp", "pp", "dp", "ep", "dcp") if getattr(desk.question, name)}
    if desk.question.dp_attention:
        opened["dp_attention"] = False
    return {"gpu": gpu, "gpu_count": fleet.num_cards, "nodes": fleet.nodes} | opened
