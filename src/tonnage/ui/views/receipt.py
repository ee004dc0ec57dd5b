"""The answer of `receipt`: what an engine's log says beside what was predicted, line by line."""

from __future__ import annotations

from tonnage.ui.views.screen import BLANK, wrap_row
from tonnage.ui.views.subject import engine_words, fleet_words, layout_words, model_words
from tonnage.ui.views.table import Table, table_rows
from tonnage.units import GIB, render_count, render_gib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tonnage.ui.views.screen import Row
    from tonnage.ui.views.table import Align

_PERCENT = 100
_HEADS = ("line", "measured", "predicted", "difference")
_ALIGNS: tuple[Align, ...] = ("left", "right", "right", "right")
# Lines in the order of the screen of `fit`, and their words.
_NAMES = {
    "weights": "weights", "draft": "draft model", "kv_cache": "KV cache", "activations": "activations",
    "multimodal": "encoder", "cuda_graphs": "graphs", "communication": "links", "context": "runtime", "other": "other",
}  # fmt: skip
_COUNTS = (("kv_cache_tokens", "tokens in the cache"), ("max_concurrency_x", "requests at once"))


def receipt_rows(answer: Mapping[str, Any], width: int) -> list[Row]:
    """Measured, predicted and the difference; without a prediction the measured column only."""
    predicted = answer.get("predicted") or {}
    cells = (*_line_cells(answer, predicted), *_count_cells(answer, predicted))
    shown = 4 if predicted else 2  # without a prediction there is nothing to compare with
    table = Table(_HEADS[:shown], _ALIGNS[:shown], tuple(row[:shown] for row in cells))
    notes = [str(note) for note in answer.get("notes") or ()]
    tail = [row for note in notes for row in wrap_row(note, width)]
    body = table_rows(table, width) or wrap_row("no line about memory", width)
    return [*_head_rows(answer, predicted, width), BLANK, *body, *([BLANK, *tail] if tail else [])]


def sizes_of(record: Mapping[str, Any]) -> dict[str, int]:
    """Bytes by line name, lines of one name added; a prediction may bring its lines in its busiest rank."""
    lines = record.get("lines")
    if lines is None:
        ranks = {rank["rank"]: rank for rank in record.get("ranks") or ()}
        lines = ranks.get(record.get("busiest_rank"), {}).get("lines") or ()
    sizes: dict[str, int] = {}
    for line in lines:
        if line.get("bytes") is not None:
            sizes[line["name"]] = sizes.get(line["name"], 0) + line["bytes"]
    return sizes


def _head_rows(answer: Mapping[str, Any], predicted: Mapping[str, Any], width: int) -> list[Row]:
    """How the start ended, and what the prediction is about."""
    engine, refusal = engine_words(answer) or "the engine", answer.get("refusal")
    if refusal:
        rows = wrap_row(f"{engine} did not start: {refusal}", width, "bad")
    elif answer.get("outcome") == "started":
        rows = wrap_row(f"{engine} started", width, "good")
    else:
        rows = wrap_row(f"{engine}: how the start ended is not in the log", width)
    ranks = answer.get("ranks") or ()
    # Some engines' lines are those of one rank, which a note names.
    if ranks and all(rank["lines"] != answer["lines"] for rank in ranks):
        rows += wrap_row(f"{len(ranks)} ranks: the smallest cache, the largest of every other line", width, "dim")
    about = _subject_words(predicted)
    return [*rows, *(wrap_row(f"predicted for {about}", width, "dim") if about else [])]


def _subject_words(predicted: Mapping[str, Any]) -> str:
    """Model, fleet and layout of a prediction: `Qwen3-8B on 1 x H100, TP1`; empty where it names no model."""
    if not predicted.get("model"):
        return ""
    words = f"{model_words(predicted['model'])} on {fleet_words(predicted.get('fleet'))}"
    return ", ".join(part for part in (words, layout_words(predicted.get("layout")), engine_words(predicted)) if part)


def _line_cells(answer: Mapping[str, Any], predicted: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    measured, expected = sizes_of(answer), sizes_of(predicted)
    for name in (*_NAMES, *sorted((measured.keys() | expected.keys()) - _NAMES.keys())):
        seen, told = measured.get(name), expected.get(name)
        if seen is None and not told:
            continue
        yield (_NAMES.get(name, name), *(_gib(size) for size in (seen, told)), _size_difference(seen, told))


def _count_cells(answer: Mapping[str, Any], predicted: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for key, words in _COUNTS:
        seen, told = answer.get(key), predicted.get(key)
        if seen is not None or told is not None:
            yield (words, *(_count(value) for value in (seen, told)), _difference(seen, told))


def _gib(size: int | None) -> str:
    return "not said" if size is None else render_gib(size, 2)


def _count(value: float | None) -> str:
    if value is None:
        return "not said"
    return render_count(value) if isinstance(value, int) else f"{value:,.2f}"


def _size_difference(seen: int | None, told: int | None) -> str:
    """The prediction's error in GiB and in percent of what was measured."""
    if seen is None or told is None:
        return ""
    share = _difference(seen, told)
    return f"{_signed((told - seen) / GIB, 2)} GiB" + (f"  {share:>8}" if share else "")


def _difference(seen: float | None, told: float | None) -> str:
    """The prediction's error in percent of what was measured."""
    if seen is None or told is None or not seen:
        return ""
    return f"{_signed((told - seen) * _PERCENT / seen, 1)} %"


def _signed(value: float, digits: int) -> str:
    """A number with its sign; what rounds to nothing is `+0.0`."""
    return f"{round(value, digits) + 0.0:+,.{digits}f}"
