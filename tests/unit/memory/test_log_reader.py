"""A log read by the rules of a made-up engine."""

from __future__ import annotations

from tonnage.memory.log_reader import LogReader, LogRules
from tonnage.memory.log_scan import Dialect, Fact, Found
from tonnage.memory.log_start import Start, Starts
from tonnage.memory.receipt import Receipt

FACTS = (Fact("begin", "begin", "begin"), Fact("tokens", "tokens=", r"tokens=(\d+)"))
DIALECT = Dialect(FACTS, ("begin", "tokens"), "^", lambda _: "")


def take(starts: Starts[Start], found: Found) -> None:
    """A start begins where the log says so, and counts tokens."""
    if found.name == "begin":
        starts.begin()
    else:
        starts.current.count("tokens", float(found.groups[0] or 0))
        starts.current.is_sized = True


def build(start: Start, notes: tuple[str, ...]) -> Receipt:
    """Tokens only."""
    return Receipt("made-up", kv_cache_tokens=start.whole("tokens"), notes=notes)


RULES = LogRules(DIALECT, frozenset({"tokens"}), Start, take, build)


def test_lines_one_at_a_time() -> None:
    reader = LogReader(RULES)
    reader.feed("begin")
    assert (reader.is_sure, reader.receipt().kv_cache_tokens) == (False, None)
    reader.feed("tokens=7")
    assert (reader.is_sure, reader.receipt().kv_cache_tokens) == (True, 7)


def test_the_rest_of_a_log() -> None:
    reader = LogReader(RULES)
    reader.feed("tokens=7")
    receipt = reader.read(["noise", "begin", "tokens=9"])
    assert receipt.kv_cache_tokens == 9
    assert receipt.notes == ("the log holds 2 starts; the last that came to an end is shown",)
    assert reader.read([]) == receipt
