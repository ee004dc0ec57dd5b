"""From the memory left on a rank to the tokens SGLang logs."""

from __future__ import annotations

from tonnage.engines.sglang.cache_types import is_sparse, pool_types
from tonnage.engines.sglang.cell import cell_of
from tonnage.engines.sglang.states import state_pool
from tonnage.engines.sglang.version import Version
from tonnage.memory.engine import Pool
from tonnage.model.mixer.compressed import Compressed
from tonnage.units import ceil_div, round_up
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.sglang.cache_types import PoolTypes
    from tonnage.engines.sglang.cell import Cell
    from tonnage.engines.sglang.states import StatePool
    from tonnage.memory.rank_view import RankView

# --page-size: one token, except for back ends that force more (SGLang `arg_groups/overrides.py`).
PAGE, SPARSE_PAGE, COMPRESSED_PAGE = 1, 64, 256
FIRST_ROCM_SPARSE_PAGE = Version(0, 5, 10)  # before, the ROCm kernels took single tokens only
# max_running_requests: tokens / context x 512, but between these two, and at most one for every two tokens.
REQUESTS_PER_CONTEXT, LEAST_REQUESTS, MOST_REQUESTS = 512, 2048, 4096


def page_size(version: Version, view: RankView) -> int:
    """Tokens of one page of the cache."""
    arch = view.parts.arch
    if view.serving.block_size:
        return view.serving.block_size
    if arch.has_mixer(Compressed):
        return COMPRESSED_PAGE
    is_paged = view.card.vendor != "amd" or version >= FIRST_ROCM_SPARSE_PAGE
    return SPARSE_PAGE if is_sparse(arch) and is_paged else PAGE


@value
class Planned:
    """A pool of `size_bytes`, states included, with room for `tokens` in pages of `page` tokens."""

    size_bytes: int
    tokens: int
    page: int
    cell: Cell
    states: StatePool


def plan_pool(version: Version, view: RankView, pool_bytes: int) -> Pool:
    """The pool made of `pool_bytes`: of all that is left for caches or, where the user fixed it, of KV alone.

    SGLang also starts when one request of full length does not fit, and refuses the long prompts later; `fits` is
    False then, because the length asked for cannot be served.
    """
    types = pool_types(view.serving.kv_dtype, view.parts.arch, version, view.card)
    page, is_fixed = page_size(version, view), view.serving.kv_bytes is not None
    states = state_pool(version, view, types.planned, pool_bytes)
    allocated = cell_of(version, view, types.allocated)
    if is_fixed:
        tokens, size = allocated.tokens(pool_bytes, page), pool_bytes
    else:
        tokens = cell_of(version, view, types.planned).tokens(pool_bytes - states.bytes, page)
        size = _allocated_bytes(pool_bytes, tokens, types, allocated, states)
    return _pool(view, Planned(size, tokens, page, allocated, states))


def _allocated_bytes(budget: int, tokens: int, types: PoolTypes, cell: Cell, states: StatePool) -> int:
    """What is allocated: the budget, or more where the pool is planned with smaller rows than it has."""
    if types.planned == types.allocated or budget <= 0:
        return budget
    return cell.bytes(tokens) + states.bytes


def _pool(view: RankView, planned: Planned) -> Pool:
    cell, tokens, page = planned.cell, planned.tokens, planned.page
    length = view.serving.max_model_len
    state = planned.states.slot_bytes * planned.states.slots_per_request
    limit = max(view.parts.arch.max_context, length)
    # Without a cache per token (states only) the context is not limited by memory.
    longest = min(tokens, limit) if cell.numerator else limit
    return Pool(
        pool_bytes=planned.size_bytes,
        tokens=tokens,
        concurrency=_concurrency(planned, length),
        needed_bytes=cell.bytes(round_up(length, page)) + state,
        max_context=longest,
        token_bytes=ceil_div(cell.numerator, cell.denominator),
        state_bytes=state,
        block_size=page,
        num_blocks=tokens // page,
        fits=planned.size_bytes > 0 and longest >= length and planned.states.requests != 0,
        trace=_trace(planned),
    )


def _concurrency(planned: Planned, length: int) -> float:
    requests = planned.states.requests
    by_tokens = planned.tokens / length if planned.cell.numerator else float(requests or 0)
    return by_tokens if requests is None else min(by_tokens, float(requests))


def _trace(planned: Planned) -> str:
    cell, states = planned.cell, planned.states
    text = f"{planned.tokens:,} tokens of {cell.numerator / cell.denominator:,.2f} B"
    return f"{text}, {states.slots:,} states of {states.slot_bytes:,} B" if states.slot_bytes else text


def running_requests(limit: int, tokens: int, context: int) -> int:
    """max_running_requests, at most `limit`, of one data-parallel rank with a pool of `tokens`."""
    automatic = max(LEAST_REQUESTS, min(MOST_REQUESTS, tokens * REQUESTS_PER_CONTEXT // context))
    return max(1, min(limit, automatic, tokens // 2))
