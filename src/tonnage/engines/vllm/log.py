"""Reading vLLM's start-up log, from 0.6 to 0.33."""

from __future__ import annotations

from tonnage.engines.vllm.log_facts import AMOUNTS, DIALECT, NUMBERS
from tonnage.engines.vllm.log_receipt import build_receipt
from tonnage.engines.vllm.log_settings import read_pairs
from tonnage.memory.amount import read_amount
from tonnage.memory.log_reader import LogRules
from tonnage.memory.log_scan import clean_line
from tonnage.memory.log_start import Start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.memory.log_scan import Found
    from tonnage.memory.log_start import Starts

_AMOUNTS = {fact.name for fact in AMOUNTS}
_NUMBERS = {fact.name for fact in NUMBERS}
_SIZES = {"kv", "tokens", "blocks"}
# Words that no other engine's log has.
_SURE = frozenset(_SIZES | {"concurrency", "engine", "server", "needed", "too_long", "summary_peak", "torch_peak"})


def _take(starts: Starts[Start], found: Found) -> None:
    if found.name in ("engine", "server") and len(found.groups) <= 2:
        _open(starts, found)
    start = starts.current
    if found.name in _SIZES:
        start.is_sized = True
    if found.name in _AMOUNTS:
        start.add(found.speaker, found.name, read_amount(found.groups[0] or "", "GiB"))
    elif found.name in _NUMBERS:
        start.count(found.name, float((found.groups[0] or "").replace(",", "")))
    else:
        _take_event(start, found)


def _open(starts: Starts[Start], found: Found) -> None:
    is_whole = found.name == "server" or len(found.groups) == 2
    if is_whole and starts.current.is_reopened(found.speaker, found.name):
        starts.begin()
        starts.current.is_reopened(found.speaker, found.name)


def _take_event(start: Start, found: Found) -> None:
    first = found.groups[0] if found.groups else None
    if found.name in ("engine", "arguments"):
        _take_settings(start, found)
    elif found.name in ("server", "version"):
        start.say("server", first)
    elif found.name == "card":
        start.say("card", (first or "").replace("_", " "))
    elif found.name == "started":
        start.is_started = start.is_started or start.refusal is None
    else:
        _take_refusal(start, found)


def _take_settings(start: Start, found: Found) -> None:
    # The first piece of a configuration comes with the version, the others alone.
    if found.name == "engine" and len(found.groups) == 2:
        start.say("version", found.groups[0])
    for name, value in read_pairs(found.groups[-1] or "").items():
        start.say(f"{found.name}.{name}", value)


def _take_refusal(start: Start, found: Found) -> None:
    groups = found.groups
    if found.name == "needed":
        start.count("refused_length", float(groups[0] or 0))
        start.add("", "needed", read_amount(groups[1] or "", "GiB"))
        start.add("", "kv_refused", read_amount(groups[2] or "", "GiB"))
    elif found.name == "too_long":
        start.count("refused_length", float(groups[0] or 0))
        start.count("tokens", float(groups[1] or 0))
    elif found.name == "estimate":
        start.count("estimate", float(groups[0] or 0))
        return
    if found.name == "failed":
        start.say("failed", clean_line(found.line))
    else:
        start.refuse(found.line)


RULES = LogRules(DIALECT, _SURE, Start, _take, build_receipt)
