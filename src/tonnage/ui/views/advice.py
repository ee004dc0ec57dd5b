"""What stands under the numbers of an answer: why, what to know, what else was tried, what to ask next."""

from __future__ import annotations

from tonnage.ui.views.options import FLEET_FIELDS, change_words
from tonnage.ui.views.screen import label_rows, shorten, wrap_text
from tonnage.units import render_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from tonnage.ui.views.screen import Row

MAX_BECAUSE_ROWS, MAX_NOTE_ROWS = 2, 2
LONGEST_NAME = 60
GAP = "     "


def advice_rows(answer: Mapping[str, Any], column: int, width: int, left: int) -> list[Row]:
    """Because, note, instead, next; notes get the lines of `left` that the others leave, but never none."""
    because = _because_rows(answer, column, width)
    after = [*_remedy_rows(answer, column, width), *_next_rows(answer, column, width)]
    notes = [str(note) for note in answer.get("notes") or ()]
    return [*because, *_note_rows(notes, column, width, max(1, left - len(because) - len(after))), *after]


def _because_rows(answer: Mapping[str, Any], column: int, width: int) -> list[Row]:
    """As many reasons, weightiest first, as fit into two lines."""
    reasons = [str(reason) for reason in answer.get("because") or ()]
    while len(reasons) > 1 and len(wrap_text("; ".join(reasons), width - column)) > MAX_BECAUSE_ROWS:
        reasons.pop()
    return label_rows("because", ["; ".join(reasons)], column, width) if reasons else []


def _note_rows(notes: list[str], column: int, width: int, left: int) -> list[Row]:
    rows: list[Row] = []
    for number, note in enumerate(notes):
        label = "note" if number == 0 else ""
        more = len(notes) - number
        lines = _cut(note, width - column)
        if len(rows) + len(lines) + (more > 1) > left:
            word = "note" if more == 1 else "notes"
            return [*rows, *label_rows(label, [f"{more} {'more ' if rows else ''}{word}: --explain"], column, width)]
        rows += label_rows(label, lines, column, width)
    return rows


def _cut(note: str, width: int) -> list[str]:
    """The first lines of a note; an ellipsis where it goes on."""
    lines = wrap_text(note, width)
    if len(lines) <= MAX_NOTE_ROWS:
        return lines
    return [*lines[: MAX_NOTE_ROWS - 1], shorten(f"{lines[MAX_NOTE_ROWS - 1]} …", width)]


def _remedy_rows(answer: Mapping[str, Any], column: int, width: int) -> list[Row]:
    remedies = [remedy for remedy in answer.get("remedies") or () if remedy["fits"]]
    if not remedies:
        return []
    fleet = answer.get("fleet") or {}
    pairs = [(change_words(remedy["change"], fleet), _effect_words(remedy, answer)) for remedy in remedies]
    if answer["fits"]:
        return label_rows("instead", _side_by_side((f"{change}: {effect}" for change, effect in pairs), column, width),
                          column, width)  # fmt: skip
    middle = max(len(change) for change, _ in pairs) + 2
    is_wide = all(column + middle + len(effect) <= width for _, effect in pairs)
    texts = [change.ljust(middle) + effect if is_wide else f"{change}: {effect}" for change, effect in pairs]
    return label_rows("instead", texts, column, width)


def _effect_words(remedy: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """`26.9 requests`, with what differs from the answer: the layout where one was chosen, and the length."""
    if remedy.get("requests") is None:
        return str(remedy["effect"])
    change, length = remedy["change"], remedy["max_model_len"]
    is_same = answer["fits"] and length == (answer.get("serving") or {}).get("max_model_len")
    words = f"{remedy['requests']:,.1f} requests" + ("" if is_same else f" at {render_count(length)}")
    own = (answer.get("layout") or {}).get("words")
    is_chosen = any(change.get(field) for field in FLEET_FIELDS) or ("tp" not in change and remedy["layout"] != own)
    return f"{remedy['layout']}, {words}" if is_chosen and not change.get("dp_attention") else words


def _next_rows(answer: Mapping[str, Any], column: int, width: int) -> list[Row]:
    model = answer.get("model")
    name = model.get("id") if isinstance(model, dict) else model
    # A path that is cut short is no use to anyone.
    cards = f"tonnage cards {name if len(str(name)) <= LONGEST_NAME else 'MODEL'}" if name else ""
    asks = ["--explain", cards, "tonnage receipt LOG"] if answer["fits"] else [cards, "--explain"]
    return label_rows("next", _side_by_side(filter(None, asks), column, width, GAP[:2]), column, width)


def _side_by_side(texts: Iterable[str], column: int, width: int, gap: str = GAP) -> list[str]:
    """Texts on as few lines as hold them whole."""
    lines: list[str] = []
    for text in texts:
        if lines and column + len(lines[-1]) + len(gap) + len(text) <= width:
            lines[-1] += gap + text
        else:
            lines.append(text)
    return lines
