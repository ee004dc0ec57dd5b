"""Reading SGLang's start-up log."""

from __future__ import annotations

from tonnage.engines.sglang.log_facts import DIALECT
from tonnage.engines.sglang.log_receipt import SglangStart, build_receipt
from tonnage.engines.sglang.log_settings import read_pairs
from tonnage.memory.amount import add_up, read_amount
from tonnage.memory.log_reader import LogRules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.sglang.log_rank import RankLog
    from tonnage.memory.amount import Amount
    from tonnage.memory.log_scan import Found
    from tonnage.memory.log_start import Starts

# Words that no other engine's log has.
_SURE = frozenset({"load_begin", "load_end", "pool", "tokens", "states", "arguments", "pool_end"})
_NUMBERS = {"tokens", "requests", "length", "chunk"}
_TEXTS = {"class", "dtype", "quantization", "pool_dtype", "version"}


def _take(starts: Starts[SglangStart], found: Found) -> None:
    if found.name == "arguments" and "server_args=" in found.line:
        starts.begin()
    start = starts.current
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
        start.refuse(found.line)
    else:
        _take_amounts(start, start.rank(found.speaker), found)


def _take_amounts(start: SglangStart, rank: RankLog, found: Found) -> None:
    tokens, sizes = found.groups[0], [_amount(text) for text in found.groups]
    together = add_up(size for size in sizes[1:] if size is not None)
    if found.name == "pool":
        start.is_sized = True
        if tokens is not None:
            start.count("pool_tokens", float(tokens))
        if together is not None:
            rank.add_pool(together)
    elif found.name == "states":
        rank.states = together
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


RULES = LogRules(DIALECT, _SURE, SglangStart, _take, build_receipt)
