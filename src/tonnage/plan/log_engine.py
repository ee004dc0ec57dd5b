"""Which engine wrote a log, and what the log says."""

from __future__ import annotations

from importlib import import_module

from tonnage.errors import UnreadableError
from tonnage.memory.log_reader import LogReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from tonnage.memory.receipt import Receipt

_MODULES = ("vllm", "sglang", "llamacpp")


def read_log(log: str | Iterable[str]) -> Receipt:
    """The receipt of a log, given as text or as its lines; the first engine that is recognised is taken for its author.

    UnreadableError when no line carries a figure of a known engine.
    """
    readers, lines = [_make(name) for name in _MODULES], iter(log.splitlines() if isinstance(log, str) else log)
    for line in lines:
        for reader in readers:
            reader.feed(line)
            if reader.is_sure:
                return reader.read(lines)
    found = next(_telling(readers), None)
    if found is None:
        raise UnreadableError("log", "no line with a memory figure", "a start-up log of vLLM, SGLang or llama.cpp")
    return found


def _telling(readers: Iterable[LogReader[Any]]) -> Iterator[Receipt]:
    for reader in readers:
        receipt = reader.receipt()
        if receipt.ranks or receipt.refusal is not None:
            yield receipt


def _make(name: str) -> LogReader[Any]:
    return LogReader(import_module(f"tonnage.engines.{name}.log").RULES)
