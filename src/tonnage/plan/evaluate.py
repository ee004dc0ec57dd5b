"""One model, one layout, one set of cards: the ledger of every rank and what the engine would say."""

from __future__ import annotations

from tonnage.errors import LayoutError
from tonnage.figure import exact
from tonnage.memory.extras import extra_lines
from tonnage.memory.ledger import Ledger
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import weigh
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tonnage.catalog.accelerator import Accelerator
    from tonnage.figure import Line
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Parts
    from tonnage.memory.engine import Engine, Limits, Pool
    from tonnage.memory.serving import Serving


@value
class Job:
    """What is evaluated: `card_bytes` overrides the card's own memory (a CPU's is the host's).

    `adjust` moves the overhead lines by what earlier starts have taught; None leaves them as computed.
    """

    parts: Parts
    engine: Engine
    card: Accelerator
    layout: Layout
    limits: Limits
    card_bytes: int
    adjust: Callable[[tuple[Line, ...]], tuple[Line, ...]] | None = None


@value
class RankResult:
    """Ledger and pool of one rank; `host_bytes` of its weights live in host memory."""

    view: RankView
    ledger: Ledger
    pool: Pool
    weights_bytes: int
    host_bytes: int


@value
class Evaluation:
    """All ranks of a job; equal ranks share their lines. `refusal` is the engine's, where it refuses the layout."""

    job: Job
    serving: Serving
    ranks: tuple[RankResult, ...]
    refusal: LayoutError | None

    @property
    def busiest(self) -> RankResult:
        """The rank that decides: least KV memory, then least free."""
        return min(self.distinct, key=lambda r: (r.pool.concurrency, r.pool.pool_bytes, r.ledger.free_bytes))

    @property
    def distinct(self) -> tuple[RankResult, ...]:
        """The first of each set of equal ranks, in order; equal ranks share their pool."""
        pools = [id(rank.pool) for rank in self.ranks]
        return tuple(self.ranks[pools.index(pool)] for pool in dict.fromkeys(pools))

    @property
    def weights_bytes(self) -> int:
        """Weights of the heaviest rank."""
        return max(rank.weights_bytes for rank in self.distinct)

    @property
    def load_peak_bytes(self) -> int:
        """The largest moment while loading, on any rank."""
        return max(rank.ledger.load_peak_bytes for rank in self.distinct)


def evaluate(job: Job) -> Evaluation:
    """Ledgers of all ranks, even of a layout the engine refuses; LayoutError when the tensors cannot be cut at all."""
    refusal = job.engine.refusal(job.parts, job.layout)
    try:
        ranks = _weighed(job, job.engine.serving(job.parts, job.layout, job.limits))
    except LayoutError as uneven:
        # The engine's own words, where it has any, say more than the tensor that could not be cut.
        raise refusal or uneven from uneven
    return Evaluation(job, ranks[0].view.serving, ranks, refusal)


def _weighed(job: Job, serving: Serving) -> tuple[RankResult, ...]:
    known: dict[tuple[object, ...], RankResult] = {}
    ranks = []
    for view in _views(job, serving):
        place = (view.layers.start, view.ep_rank)
        if place not in known:
            content = _content(view)
            if content not in known:
                known[content] = _result(job, view)
            known[place] = known[content]
        ranks.append(_renumbered(known[place], view))
    return tuple(ranks)


def _content(view: RankView) -> tuple[object, ...]:
    """What decides a rank's ledger; stages in the middle of a pipeline mostly hold the same."""
    stage = slice(view.layers.start, view.layers.stop)
    held = (view.parts.class_of[stage], *map(id, view.parts.arch.layers[stage]))
    return (held, view.is_first, view.is_last, view.has_embedding, view.has_head, view.ep_rank)


def _views(job: Job, serving: Serving) -> Iterator[RankView]:
    layout, widths = job.layout, job.engine.widths(job.layout)
    stages = job.engine.stages(len(job.parts.arch.layers), layout)
    per_replica = layout.tp * layout.pp
    edges = _uneven_edges(job.parts, widths.moe_ep, layout.redundant_experts)
    for rank in range(layout.world):
        stage = rank % per_replica // layout.tp
        ep_rank = rank // per_replica * layout.tp + rank % layout.tp
        first, last = stage == 0, stage == layout.pp - 1
        embeds, heads = job.engine.ends(job.parts.arch, first, last)
        yield RankView(
            rank, job.parts, layout, widths, stages[stage], first, last, embeds, heads,
            _representative(ep_rank, edges), job.card, job.card_bytes, serving,
        )  # fmt: skip


def _uneven_edges(parts: Parts, ep: int, redundant: int) -> list[int]:
    """First rank that holds one expert fewer, for each expert count that does not divide evenly."""
    counts = {p.tensor.copies for pieces in parts.classes for p in pieces if p.group == "experts"}
    return sorted({(count + redundant) % ep for count in counts} - {0})


def _representative(ep_rank: int, edges: list[int]) -> int:
    """A rank with as many experts as `ep_rank`, the same for all such ranks."""
    return next((edge - 1 for edge in edges if ep_rank < edge), edges[-1] if edges else 0)


def _result(job: Job, view: RankView) -> RankResult:
    engine, store = job.engine, job.engine.store(view.parts.arch)
    weighed = weigh(view, store)
    on_host = sum(weighed.by_group.get(group, 0) for group in engine.host_groups)
    on_host += min(view.serving.offload_bytes, weighed.total - on_host)
    weights = weighed.total - on_host + engine.buffers(view, weighed)
    lines = _weight_lines(view, weighed.by_group.get("tower", 0), weights)
    lines += extra_lines(view, store)
    overheads = engine.overheads(view, weights)
    lines += job.adjust(overheads) if job.adjust else overheads
    pool_bytes = view.serving.kv_bytes if view.serving.kv_bytes is not None else engine.pool(view, weights, lines)
    pool = engine.plan_pool(view, pool_bytes)
    cache = exact("kv_cache", max(0, pool.pool_bytes), pool.trace)
    ledger = Ledger(view.rank, view.card_bytes, engine.budget(view), (*lines, cache), engine.load_peak(view, weights))
    return RankResult(view, ledger, pool, weights, on_host)


def _weight_lines(view: RankView, tower: int, weights: int) -> tuple[Line, ...]:
    trace = f"{_span(view)}, {view.widths.words}"
    if not tower:
        return (exact("weights", weights, trace),)
    return (exact("weights", weights, f"{trace}; encoder {tower:,} B included"),)


def _span(view: RankView) -> str:
    return f"layers {view.layers.start}-{view.layers.stop - 1} of {len(view.parts.class_of)}"


def _renumbered(result: RankResult, view: RankView) -> RankResult:
    if result.view.rank == view.rank:
        return result
    lines = result.ledger.lines
    if result.view.layers != view.layers:
        weights = replace(lines[0], trace=_span(view) + lines[0].trace.removeprefix(_span(result.view)))
        lines = (weights, *lines[1:])
    ledger = replace(result.ledger, rank=view.rank, lines=lines)
    return RankResult(view, ledger, result.pool, result.weights_bytes, result.host_bytes)
