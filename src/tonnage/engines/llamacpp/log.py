"""Reading the start-up log of llama.cpp and of programs built on it."""

from __future__ import annotations

from tonnage.engines.llamacpp.log_facts import DIALECT
from tonnage.engines.llamacpp.log_receipt import LlamaStart, build_receipt
from tonnage.memory.amount import read_amount
from tonnage.memory.log_scan import Scanner, clean_line
from tonnage.memory.log_start import Starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.memory.log_scan import Found
    from tonnage.memory.receipt import Receipt

# Words that no other engine's log has.
_SURE = {"model", "buffer", "breakdown", "path"}
_NUMBERS = {"context", "sequence", "sequences", "batch", "cells"}
_TEXTS = {"path", "name", "file_type", "version", "types"}
_TABLE = ("model", "KV", "compute")
_LONGEST_REFUSAL = 400


def read_log(lines: Iterable[str]) -> Receipt:
    """The receipt of the last start in a llama.cpp log that came to an end; lines in the order of the log."""
    reader = LogReader()
    for line in lines:
        reader.feed(line)
    return reader.receipt()


class LogReader:
    """Takes a log line by line and tells at any time what it has read; its memory does not grow."""

    engine = "llamacpp"

    def __init__(self) -> None:
        self._scanner = Scanner(DIALECT)
        self._starts = Starts(LlamaStart)
        self.is_sure = False

    def feed(self, line: str) -> None:
        """Read one line."""
        for found in self._scanner.feed(line):
            self.is_sure = self.is_sure or found.name in _SURE
            if found.name == "model" and not self._starts.current.is_draft:
                self._begin()
            _take(self._starts.current, found)

    def receipt(self) -> Receipt:
        """What has been read so far."""
        return build_receipt(self._starts.chosen(), self._starts.notes())

    def _begin(self) -> None:
        # Cards are listed before the first model is opened, and once for all models of a process.
        cards, version = self._starts.current.cards, self._starts.current.texts.get("version")
        self._starts.begin()
        self._starts.current.cards |= cards
        self._starts.current.say("version", version)


def _take(start: LlamaStart, found: Found) -> None:
    groups = found.groups
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
        start.refuse(clean_line(found.line)[-_LONGEST_REFUSAL:])


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
