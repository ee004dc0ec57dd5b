"""Does a model fit: the question answered, with a chosen layout when none is stated."""

from __future__ import annotations

from tonnage.errors import LayoutError
from tonnage.plan import answer
from tonnage.plan.because import list_reasons
from tonnage.plan.choose import choose
from tonnage.plan.desk import open_desk
from tonnage.plan.fleets import node_memory_bytes
from tonnage.plan.remedies import find_remedies
from tonnage.plan.verdict import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tonnage.plan.choose import Choice
    from tonnage.plan.desk import Desk
    from tonnage.plan.question import Question


# Methods whose point is arithmetic in few bits, on cards that have it.
ARITHMETIC = ("fp8", "fbgemm_fp8", "nvfp4", "mxfp4", "mxfp8", "w8a8-fp8", "w8a8-int8")


def answer_question(question: Question, with_remedies: bool = True, is_calibrated: bool = True) -> dict[str, Any]:
    """The contract's answer to one question.

    `with_remedies` False leaves checked remedies out of answers that are yes, for long batches; `is_calibrated` False
    leaves out what earlier starts have taught.
    """
    desk = open_desk(question, is_calibrated)
    try:
        choice = choose(desk)
    except LayoutError as refusal:
        return _refused(desk, refusal)
    fits = choice.verdict.fits
    remedies = find_remedies(desk, choice.found, fits) if with_remedies or not fits else []
    return (
        {"id": question.id}
        | answer.verdict_record(choice.verdict)
        | answer.head_record(desk.model, desk.fleet, choice.found.job.layout)
        | {"engine": desk.engine.name, "engine_version": desk.engine.version}
        | answer.numbers_record(choice.found)
        | answer.tiers_record(choice.found, desk.fleet, node_memory_bytes(desk.fleet))
        | {"because": list_reasons(choice.found, choice.why), "remedies": remedies, "notes": _notes(desk, choice)}
    )


def _notes(desk: Desk, choice: Choice) -> list[str]:
    notes = [*desk.model.notes, *desk.engine.notes, *_card_notes(desk)]
    if (note := choice.found.busiest.pool.note) is not None:
        notes.append(note)
    if desk.adjust is not None:
        notes.append("overheads moved by what earlier starts on this machine have taught")
    context = choice.found.serving.max_model_len
    if desk.limits.max_model_len is None and context < desk.model.parts.arch.max_context:
        notes.append(
            f"start with a maximum length of {context:,}: the model's own {desk.model.parts.arch.max_context:,}"
            " tokens do not fit in the cache"
        )
    return notes


def _card_notes(desk: Desk) -> list[str]:
    card, scheme = desk.fleet.accelerator, desk.model.parts.arch.scheme
    if card.id == "unknown" and card.note:
        return [card.note]
    if scheme is None or card.target is None or card.vendor not in ("nvidia", "amd"):
        return []
    from tonnage.model.quantization.support import is_native

    # Formats that only store weights are unpacked everywhere, so only a card that lacks the arithmetic is worth a word.
    is_unpacked = scheme.method in ARITHMETIC and not is_native(scheme.method, card.target)
    return [f"{card.name} unpacks {scheme.method} to 16 bit: less memory, no faster arithmetic"] if is_unpacked else []


def _refused(desk: Desk, refusal: LayoutError) -> dict[str, Any]:
    return (
        {"id": desk.question.id}
        | answer.verdict_record(refuse(refusal))
        | answer.head_record(desk.model, desk.fleet, None)
        | {"engine": desk.engine.name, "engine_version": desk.engine.version, "ranks": []}
        | {"because": [], "remedies": find_remedies(desk, None, False)}
        | {"notes": [*desk.model.notes, *desk.engine.notes]}
    )
