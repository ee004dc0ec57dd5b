"""Which engine wrote a log, and what the log says."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from tonnage.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tonnage.memory.receipt import Receipt

_MODULES = ("vllm", "sglang", "llamacpp")


class LogReader(Protocol):
    """What every engine's reader of logs can do."""

    engine: str
    is_sure: bool

    def feed(self, line: str) -> None:
        """Read one line."""
        ...

    def receipt(self) -> Receipt:
        """What has been read so far."""
        ...


def read_log(log: str | Iterable[str]) -> Receipt:
    """The receipt of a log, given as text or as its lines; the first engine that is recognised is taken for its author.

    UnreadableError when no line carries a figure of a known engine.
    """
    readers = [_make(name) for name in _MODULES]
    for line in log.splitlines() if isinstance(log, str) else log:
        for reader in readers:
            reader.feed(line)
            if reader.is_sure:
                readers = [reader]
                break
    found = next(_telling(readers), None)
    if found is None:
        raise UnreadableError("log", "no line with a memory figure", "a start-up log of vLLM, SGLang or llama.cpp")
    return found


def _telling(readers: Iterable[LogReader]) -> Iterator[Receipt]:
    for reader in readers:
        receipt = reader.receipt()
        if reader.is_sure or receipt.ranks or receipt.refusal is not None:
            yield receipt


def _make(name: str) -> LogReader:
    # Imported here: most questions are not about logs.
    reader: LogReader = import_module(f"tonnage.engines.{name}.log").LogReader()
    return reader
