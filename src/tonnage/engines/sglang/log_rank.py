"""What one SGLang rank reports while it starts, in the order of its log."""

from __future__ import annotations

from dataclasses import dataclass, field

from tonnage.memory.amount import add_up
from tonnage.memory.receipt import RankReceipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.figure import Line
    from tonnage.memory.amount import Amount

_MOST = 64  # pools or captures of one rank


@dataclass(slots=True)
class RankLog:
    """The amounts of one rank.

    Free memory is printed at every step. What is loaded or allocated once the pools are done belongs to the draft.
    """

    links: Amount | None = None
    before: Amount | None = None
    loads: list[Amount] = field(default_factory=list)
    free_loaded: Amount | None = None
    free_pooled: Amount | None = None
    pools: list[Amount] = field(default_factory=list)
    draft_pools: list[Amount] = field(default_factory=list)
    pools_sum: Amount | None = None
    states: Amount | None = None
    graphs: list[Amount] = field(default_factory=list)
    free_at_capture: Amount | None = None

    def end_load(self, free: Amount, used: Amount | None) -> None:
        """Weights are loaded: `used` is what they took, by subtraction where old versions do not print it."""
        if used is None and self.before is not None:
            used = self.before.minus(free)
        if used is not None and len(self.loads) < _MOST:
            self.loads.append(used)
        if self.free_pooled is None:
            self.free_loaded = free

    def add_pool(self, size: Amount) -> None:
        """A KV pool is allocated."""
        pools = self.pools if self.free_pooled is None else self.draft_pools
        if len(pools) < _MOST:
            pools.append(size)

    def end_pools(self, free: Amount) -> None:
        """The target's pools and tables are allocated."""
        self.free_pooled = self.free_pooled or free

    def end_capture(self, used: Amount | None, free: Amount) -> None:
        """Graphs of one phase are captured; old versions print only what is free."""
        if used is None and self.free_at_capture is not None:
            used = self.free_at_capture.minus(free)
        if used is not None and len(self.graphs) < _MOST:
            self.graphs.append(used)

    def report(self, name: str) -> RankReceipt:
        """The rank's ledger lines."""
        return RankReceipt(name, tuple(self._lines()))

    def cache(self) -> Amount | None:
        """KV pools and recurrent states of the target; a sliding-window pool's summary counts its pools once."""
        pools = self.pools_sum or add_up(self.pools)
        return add_up(size for size in (pools, self.states) if size is not None)

    def _lines(self) -> Iterator[Line]:
        if self.loads:
            yield self.loads[0].line("weights", "loaded model")
        if self.links is not None:
            yield self.links.line("communication", "taken while the distributed groups were set up")
        graphs = add_up(self.graphs)
        if graphs is not None:
            yield graphs.line("cuda_graphs", f"captured graphs of {len(self.graphs)} phases")
        draft = add_up([*self.loads[1:], *self.draft_pools])
        if draft is not None:
            yield draft.line("draft", "draft model and its cache")
        tables = self._tables()
        if tables is not None:
            yield tables.line("other", "between loading and the end of the pools, beside the cache: request tables")
        cache = self.cache()
        if cache is not None:
            yield cache.line("kv_cache", "KV pools" if self.states is None else "KV pools and recurrent states")

    def _tables(self) -> Amount | None:
        cache = self.cache()
        if self.free_loaded is None or self.free_pooled is None or cache is None:
            return None
        rest = self.free_loaded.minus(self.free_pooled).minus(cache)
        return rest if rest.bytes > 0 else None  # the loader's own scratch may have been given back meanwhile
