"""Does a model fit: the question answered, with a chosen layout when none is stated."""

from __future__ import annotations

from typing import Any

from tonnage.errors import LayoutError
from tonnage.plan import answer
from tonnage.plan.choose import Choice, choose
from tonnage.plan.desk import Desk, open_desk
from tonnage.plan.question import Question
from tonnage.plan.remedies import find_remedies
from tonnage.plan.verdict import refuse


def answer_question(question: Question, with_remedies: bool = True) -> dict[str, Any]:
    """The contract's answer to one question.

    `with_remedies` False leaves checked remedies out of answers that are yes, for long batches.
    """
    desk = open_desk(question)
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
        | {"remedies": remedies, "notes": _notes(desk, choice)}
    )


def _notes(desk: Desk, choice: Choice) -> list[str]:
    notes = [*desk.model.notes, *desk.engine.notes]
    if (note := choice.found.busiest.pool.note) is not None:
        notes.append(note)
    if choice.why:
        notes.append(choice.why)
    context = choice.found.serving.max_model_len
    if desk.limits.max_model_len is None and context < desk.model.parts.arch.max_context:
        notes.append(
            f"start with a maximum length of {context:,}: the model's own {desk.model.parts.arch.max_context:,}"
            " tokens do not fit in the cache"
        )
    return notes


def _refused(desk: Desk, refusal: LayoutError) -> dict[str, Any]:
    return (
        {"id": desk.question.id}
        | answer.verdict_record(refuse(refusal))
        | answer.head_record(desk.model, desk.fleet, None)
        | {"engine": desk.engine.name, "engine_version": desk.engine.version, "ranks": []}
        | {"remedies": find_remedies(desk, None, False), "notes": [*desk.model.notes, *desk.engine.notes]}
    )
