"""Reading the start-up log of llama.cpp and of programs built on it."""

from __future__ import annotations

from tonnage.engines.llamacpp.log_facts import DIALECT
from tonnage.engines.llamacpp.log_receipt import LlamaStart, build_receipt
from tonnage.memory.amount import read_amount
from tonnage.memory.log_reader import LogRules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.memory.log_scan import Found
    from tonnage.memory.log_start import Starts

# Words that no other engine's log has.
_SURE = frozenset({"model", "buffer", "breakdown", "path"})
_NUMBERS = {"context", "sequence", "sequences", "batch", "cells"}
_TEXTS = {"path", "name", "file_type", "version", "types"}
_TABLE = ("model", "KV", "compute")


def _take(starts: Starts[LlamaStart], found: Found) -> None:
    if found.name == "model" and not starts.current.is_draft:
        _begin(starts)
    start, groups = starts.current, found.groups
    if found.name == "buffer":
        _take_buffer(start, groups)
    elif found.name == "breakdown":
        _take_breakdown(start, groups)
    elif found.name in _NUMBERS:
        if not start.is_draft:
            start.count(found.name, float(groups[0] or 0))
    elif found.name in _TEXTS:
        start.say(found.name, groups[0])
    elif found.name == "card":
        start.cards.setdefault(groups[0] or "", groups[1] or "")
    elif found.name == "draft":
        start.is_draft = True
    elif found.name == "started":
        start.is_started = start.refusal is None
    elif found.name == "refused":
        start.refuse(found.line)


def _begin(starts: Starts[LlamaStart]) -> None:
    # Cards are listed before the first model is opened, and once for all models of a process.
    cards, version = starts.current.cards, starts.current.texts.get("version")
    starts.begin()
    starts.current.cards |= cards
    starts.current.say("version", version)


def _take_buffer(start: LlamaStart, groups: tuple[str | None, ...]) -> None:
    device, kind, size = (group or "" for group in groups)
    start.device(device).add(kind or "model", read_amount(size, "MiB"), start.is_draft)
    start.is_sized = start.is_sized or kind in ("KV", "RS")


def _take_breakdown(start: LlamaStart, groups: tuple[str | None, ...]) -> None:
    """A row of the table: total = free + (model + context + compute) + rest.

    Trials print the same table before anything is allocated: their rest is negative, or wrapped around.
    """
    device, total, *parts, rest = (group or "0" for group in groups)
    log = start.device(device)
    log.card_total_bytes = read_amount(total, "MiB").bytes
    if not 0 <= int(rest) <= int(total):
        return
    log.rest = read_amount(rest, "MiB")
    for kind, size in zip(_TABLE, parts, strict=True):
        log.buffers.setdefault(kind, read_amount(size, "MiB"))


RULES = LogRules(DIALECT, _SURE, LlamaStart, _take, build_receipt)
