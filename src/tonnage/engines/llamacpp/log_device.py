"""What llama.cpp puts on one device."""

from __future__ import annotations

from dataclasses import dataclass, field

from tonnage.memory.amount import add_up
from tonnage.memory.receipt import RankReceipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.figure import Line
    from tonnage.memory.amount import Amount

_HOST = ("CPU", "Host", "host")


@dataclass(slots=True)
class DeviceLog:
    """Buffers by kind: `model`, `KV`, `RS` for recurrent states, `compute` and `output`; draft ones apart.

    `rest` is what the driver reports as used beside them, from the breakdown table.
    """

    buffers: dict[str, Amount] = field(default_factory=dict)
    draft: dict[str, Amount] = field(default_factory=dict)
    rest: Amount | None = None
    card_total_bytes: int | None = None

    def add(self, kind: str, size: Amount, is_draft: bool) -> None:
        """A buffer was allocated. The scratch of a graph replaces the one before it, the others add up."""
        kinds = self.draft if is_draft else self.buffers
        is_scratch = kind in ("compute", "output")
        kinds[kind] = size if is_scratch or kind not in kinds else kinds[kind].plus(size)

    def total_bytes(self) -> int:
        """Bytes of all buffers."""
        return sum(size.bytes for size in (*self.buffers.values(), *self.draft.values()))

    def report(self, name: str) -> RankReceipt:
        """The device's ledger lines."""
        return RankReceipt(name, tuple(self._lines()), self.card_total_bytes)

    def _lines(self) -> Iterator[Line]:
        model, scratch = self._sum("model"), self._sum("compute", "output")
        cache = self._sum("KV", "RS")
        if model is not None:
            yield model.line("weights", "model buffers")
        if scratch is not None:
            yield scratch.line("activations", "compute and output buffers")
        if self.rest is not None:
            yield self.rest.line("context", "on the device beside the buffers")
        draft = add_up(self.draft.values())
        if draft is not None:
            yield draft.line("draft", "draft model, its cache and scratch")
        if cache is not None:
            yield cache.line("kv_cache", "KV buffers and recurrent states" if "RS" in self.buffers else "KV buffers")

    def _sum(self, *kinds: str) -> Amount | None:
        return add_up(self.buffers[kind] for kind in kinds if kind in self.buffers)


def is_host(name: str) -> bool:
    """Whether a device name means memory of the host: `CPU`, `CPU_Mapped`, `CUDA_Host`."""
    return name.startswith(_HOST) or name.endswith("_Host")
