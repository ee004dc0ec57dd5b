"""For every accelerator the smallest number of cards that holds a model."""

from __future__ import annotations

from tonnage.catalog.fleet import Fleet
from tonnage.errors import LayoutError, UnsupportedError, UsageError
from tonnage.plan import answer
from tonnage.plan.brief import brief_obstacle, brief_refusal, brief_total
from tonnage.plan.choose import Choice
from tonnage.plan.desk import open_desk
from tonnage.plan.fleets import card_kinds, price_usd
from tonnage.plan.layouts import candidate_layouts
from tonnage.plan.verdict import judge
from tonnage.units import render_gib
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tonnage.catalog.accelerator import Accelerator
    from tonnage.layout.layout import Layout
    from tonnage.plan.desk import Desk
    from tonnage.plan.question import Question

MAX_NODES = 8  # whole nodes tried once a single node is too small


@value
class Row:
    """The smallest fleet of one accelerator, or why there is none; `brief` is `why_not_fewer` in a few words."""

    card: Accelerator
    fleet: Fleet | None
    choice: Choice | None
    why_not_fewer: str
    brief: str = ""

    def record(self) -> dict[str, Any]:
        """The contract's row, `price_usd` for the cards alone where a price is known."""
        row: dict[str, Any] = {"accelerator": self.card.id, "name": self.card.name, "vendor": self.card.vendor}
        if self.fleet is None or self.choice is None:
            return row | dict.fromkeys(("count", "nodes", "layout", "free_bytes")) | self._why
        found, count = self.choice.found, self.fleet.num_cards
        return (
            row
            | {
                "count": count,
                "nodes": self.fleet.nodes,
                "layout": answer.layout_record(found.job.layout),
                "free_bytes": min(rank.ledger.free_bytes for rank in found.ranks),
                "weights_bytes_per_rank": found.weights_bytes,
                "max_concurrency_x": round(found.busiest.pool.concurrency, 4),
                "max_model_len": found.serving.max_model_len,
                "price_usd": price_usd(self.card, count),
            }
            | self._why
        )

    @property
    def _why(self) -> dict[str, str]:
        return {"why_not_fewer": self.why_not_fewer, "why_not_fewer_brief": self.brief}


def list_cards(question: Question) -> dict[str, Any]:
    """Rows for all card kinds, smallest count first; `question.gpu` is ignored. UsageError for a stated layout."""
    kinds = card_kinds()
    desk = open_desk(replace(question, gpu=kinds[0].id, gpu_count=None, nodes=None))
    if desk.layout is not None:
        raise UsageError("layout", desk.layout.words, "none: every fleet gets its own")
    rows = [smallest_fleet(desk.moved(Fleet(1, 1, card))) for card in kinds]
    rows.sort(key=lambda row: (row.fleet is None, row.fleet and row.fleet.num_cards, row.card.id))
    return {"model": desk.model.record(), "rows": [row.record() for row in rows], "notes": [*desk.model.notes]}


def smallest_fleet(desk: Desk) -> Row:
    """The first fleet, by number of cards, on which some layout fits."""
    reason, brief = "one card is the least there is", ""
    weights = None
    for fleet in _fleets(desk.fleet.accelerator):
        if weights is not None and _hopeless(weights, fleet):
            reason, brief = _together(weights, fleet), brief_total(weights, fleet)
            continue
        choice, refusal = _best(replace(desk, fleet=fleet))
        if choice is not None and choice.verdict.fits:
            return Row(fleet.accelerator, fleet, choice, reason, brief)
        if choice is not None:
            reason, brief = choice.verdict.reason, brief_obstacle(choice.found)
            weights = sum(rank.weights_bytes for rank in choice.found.ranks)
        elif refusal is not None:
            reason, brief = refusal.line, brief_refusal(refusal)
        if isinstance(refusal, UnsupportedError):
            break
    return Row(desk.fleet.accelerator, None, None, reason, brief)


def _fleets(card: Accelerator) -> Iterator[Fleet]:
    most = card.cards_per_node or 1
    for count in range(1, most + 1):
        yield Fleet(1, count, card)
    if most > 1:
        for nodes in range(2, MAX_NODES + 1):
            yield Fleet(nodes, most, card)


def _hopeless(weights: int, fleet: Fleet) -> bool:
    """Whether the weights alone, spread perfectly, exceed all cards together."""
    card = fleet.accelerator.memory_bytes
    return card is not None and weights > fleet.num_cards * card


def _together(weights: int, fleet: Fleet) -> str:
    size = fleet.num_cards * fleet.accelerator.capacity_bytes
    return f"{fleet.num_cards} hold {render_gib(size)} together, the weights need {render_gib(weights)}"


def _best(desk: Desk) -> tuple[Choice | None, LayoutError | None]:
    """The first layout over all cards that fits, or the first that is accepted; and the first refusal."""
    nearest: Choice | None = None
    first: LayoutError | None = None
    for layout in candidate_layouts(desk.model.parts.arch, desk.fleet):
        if layout.world != desk.fleet.num_cards:
            break
        refusal = desk.engine.refusal(desk.model.parts, layout)
        choice = None if refusal else _judged(desk, layout)
        if isinstance(choice, Choice) and choice.verdict.fits:
            return choice, first
        if isinstance(choice, Choice):
            nearest = nearest or choice
        else:
            first = first or refusal or choice
    return nearest, first


def _judged(desk: Desk, layout: Layout) -> Choice | LayoutError:
    try:
        found = desk.evaluate(layout)
    except LayoutError as refusal:
        return refusal
    return Choice(found, judge(found), "")
