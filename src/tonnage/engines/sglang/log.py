"""Reading SGLang's start-up log."""

from __future__ import annotations

from tonnage.engines.sglang.log_facts import DIALECT
from tonnage.engines.sglang.log_receipt import SglangStart, build_receipt
from tonnage.engines.sglang.log_settings import read_pairs
from tonnage.memory.amount import Amount, read_amount
from tonnage.memory.log_scan import Scanner, clean_line
from tonnage.memory.log_start import Starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.engines.sglang.log_rank import RankLog
    from tonnage.memory.log_scan import Found
    from tonnage.memory.receipt import Receipt

# Words that no other engine's log has.
_SURE = {"load_begin", "load_end", "pool", "tokens", "states", "arguments", "pool_end"}
_NUMBERS = {"tokens", "requests", "length", "chunk"}
_TEXTS = {"class", "dtype", "quantization", "pool_dtype", "version"}
_LONGEST_REFUSAL = 400


def read_log(lines: Iterable[str]) -> Receipt:
    """The receipt of the last start in an SGLang log that came to an end; lines in the order of the log."""
    reader = LogReader()
    for line in lines:
        reader.feed(line)
    return reader.receipt()


class LogReader:
    """Takes a log line by line and tells at any time what it has read; its memory does not grow."""

    engine = "sglang"

    def __init__(self) -> None:
        self._scanner = Scanner(DIALECT)
        self._starts = Starts(SglangStart)
        self.is_sure = False

    def feed(self, line: str) -> None:
        """Read one line."""
        for found in self._scanner.feed(line):
            self.is_sure = self.is_sure or found.name in _SURE
            if found.name == "arguments" and "server_args=" in found.line:
                self._starts.begin()
            _take(self._starts.current, found)

    def receipt(self) -> Receipt:
        """What has been read so far."""
        return build_receipt(self._starts.chosen(), self._starts.notes())


def _take(start: SglangStart, found: Found) -> None:
    if found.name == "arguments":
        for name, value in read_pairs(found.groups[0] or "").items():
            start.say(f"arguments.{name}", value)
    elif found.name in _NUMBERS:
        start.count(found.name, float(found.groups[0] or 0))
        start.is_sized = start.is_sized or found.name == "tokens"
    elif found.name in _TEXTS:
        start.say(found.name, found.groups[0])
    elif found.name == "card":
        start.say("card", (found.groups[0] or "").replace("_", " "))
    elif found.name == "started":
        start.is_started = start.refusal is None
    elif found.name == "refused":
        start.refuse(clean_line(found.line)[-_LONGEST_REFUSAL:])
    else:
        _take_amounts(start, start.rank(found.speaker), found)


def _take_amounts(start: SglangStart, rank: RankLog, found: Found) -> None:
    tokens = found.groups[0] if found.name in ("pool", "states") else None
    sizes = [_amount(text) for text in found.groups]
    if found.name == "pool":
        start.is_sized = True
        if tokens is not None:
            start.count("pool_tokens", float(tokens))
        rank.add_pool(_sum(sizes[1:]))
    elif found.name == "states":
        rank.states = _sum(sizes[1:])
    elif found.name == "pools_sum":
        rank.pools_sum = sizes[0]
    else:
        _take_step(rank, found.name, sizes)


def _take_step(rank: RankLog, name: str, sizes: list[Amount | None]) -> None:
    free = sizes[-1]
    if name == "init":
        rank.links = rank.links or sizes[0]
    elif name == "load_begin":
        rank.before = sizes[0]
    elif name == "load_end" and sizes[0] is not None:
        rank.end_load(sizes[0], sizes[1])
    elif name == "pool_end" and free is not None:
        rank.end_pools(free)
    elif name == "graph_begin":
        rank.free_at_capture = free
    elif name == "graph_end" and free is not None:
        rank.end_capture(sizes[1], free)


def _amount(text: str | None) -> Amount | None:
    """The amount of a group that holds one; phases of capture are words."""
    if text is None or not text.removeprefix("-").replace(".", "", 1).isdigit():
        return None
    return read_amount(text, "GiB")


def _sum(sizes: list[Amount | None]) -> Amount:
    total = Amount(0, 0, 0)
    for size in sizes:
        total = total if size is None else total.plus(size)
    return total
