"""The layout that is evaluated: the stated one, or the first that fits."""

from __future__ import annotations

from tonnage.errors import LayoutError
from tonnage.plan.layouts import candidate_layouts
from tonnage.plan.verdict import judge
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.layout import Layout
    from tonnage.plan.desk import Desk
    from tonnage.plan.evaluate import Evaluation
    from tonnage.plan.verdict import Verdict


@value
class Choice:
    """A layout with its evaluation and verdict, and why it was taken."""

    found: Evaluation
    verdict: Verdict
    why: str


def choose(desk: Desk) -> Choice:
    """The stated layout, or the first candidate that fits, or the one that comes nearest.

    Raises LayoutError with the engine's reason when no layout is valid, or when the stated one needs more cards.
    """
    if desk.layout is not None:
        _check_cards(desk.layout, desk.fleet.num_cards)
        found = desk.evaluate(desk.layout)
        return Choice(found, judge(found), "")
    return _first_fit(desk)


def _check_cards(layout: Layout, total: int) -> None:
    if layout.world > total:
        raise LayoutError("layout", f"{layout.words} needs {layout.world} cards", f"at most the {total} given")


def _first_fit(desk: Desk) -> Choice:
    nearest: Choice | None = None
    refusal: LayoutError | None = None
    for layout in candidate_layouts(desk.model.parts.arch, desk.fleet):
        try:
            found = desk.evaluate(layout)
        except LayoutError as reason:
            refusal = refusal or reason
            continue
        choice = Choice(found, judge(found), _why(desk, layout, refusal, nearest))
        if choice.verdict.fits:
            return choice
        refusal = refusal or found.refusal
        if nearest is None or _heaviness(found) < _heaviness(nearest.found):
            nearest = choice
    if nearest is None:
        raise refusal or LayoutError("layout", "none", "no layout is possible on these cards")
    words = nearest.found.job.layout.words
    why = f"{words} comes nearest of the layouts that were tried" if desk.fleet.num_cards > 1 else ""
    return replace(nearest, why=why)


def _heaviness(found: Evaluation) -> tuple[bool, int]:
    """Refused layouts last; then weights of the heaviest rank in eighths of a card, finer is no reason to prefer."""
    return found.refusal is not None, 8 * found.weights_bytes // found.job.card_bytes


def _why(desk: Desk, layout: Layout, refusal: LayoutError | None, before: Choice | None) -> str:
    if desk.fleet.num_cards == 1:
        return ""
    if refusal is not None:
        return f"{layout.words} because simpler layouts are refused: {refusal.line}"
    if layout.pp > 1 and desk.fleet.nodes > 1:
        return f"{layout.words}: tensor parallel inside a node, pipeline stages between nodes"
    if before is not None:
        return f"{layout.words}: {before.found.job.layout.words} does not fit"
    return f"{layout.words} is the simplest layout, and it fits"
