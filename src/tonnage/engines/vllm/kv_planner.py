"""From the caches of one rank and its free memory to the plan the engine makes."""

from __future__ import annotations

from tonnage.engines.vllm.kv_block import align_block, choose_block
from tonnage.engines.vllm.kv_page import paged_specs
from tonnage.engines.vllm.kv_plan import KvPlan, empty_plan
from tonnage.engines.vllm.kv_pool import make_pool
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.memory.search import find_largest
from tonnage.units import ceil_div
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_pool import KvPool
    from tonnage.engines.vllm.kv_request import KvRequest
    from tonnage.engines.vllm.kv_rules import KvRules
    from tonnage.engines.vllm.version import Version
    from tonnage.memory.kv_spec import KvSpec


def plan_kv(specs: tuple[KvSpec, ...], request: KvRequest, version: Version) -> KvPlan:
    """The plan for `specs`, the caches of one rank. An engine takes the smallest `num_blocks` of its ranks."""
    rules = kv_rules(version)
    if rules.is_v0:
        # Imported here: few ask about versions before 0.8.
        from tonnage.engines.vllm.kv_v0 import plan_v0

        return plan_v0(specs, request)
    everywhere = request.model_specs or specs
    block = align_block(choose_block(everywhere, request, version), everywhere, rules)
    return plan_with_block(specs, block, request, rules)


def plan_with_block(specs: tuple[KvSpec, ...], block: int, request: KvRequest, rules: KvRules) -> KvPlan:
    """The plan with `block` tokens per block, whatever the model would ask for."""
    limit = request.context_limit or request.max_model_len
    if not specs:
        return empty_plan(block, limit)
    pool = make_pool(paged_specs(specs, block, request), request, rules)
    checked = _checked_pool(pool)
    usable = request.available_bytes - (pool.block_bytes if rules.reserves_null_block else 0)
    blocks = max(0, request.available_bytes // pool.block_bytes)
    needed, wanted = checked.needed_bytes(request.max_model_len), pool.request_blocks(request.max_model_len)
    tokens, concurrency = _logged(pool, blocks, wanted)
    is_whole = limit == request.max_model_len and needed <= usable
    return KvPlan(
        block_size=next((group.block for group in pool.groups if group.grows), block),
        num_groups=len(pool.groups),
        bytes_per_block=pool.block_bytes,
        num_blocks=blocks,
        tokens=tokens,
        concurrency=concurrency,
        request_blocks=wanted,
        needed_bytes=needed,
        max_context=limit if is_whole else longest_context(checked, usable, limit),
        token_bytes=token_bytes(pool),
        fixed_bytes=fixed_bytes(pool),
        fits=request.available_bytes > 0 and needed <= usable,
    )


def _checked_pool(pool: KvPool) -> KvPool:
    """The pool the start-up check looks at: all stages' layers on one rank from 0.14 to 0.16."""
    if not pool.rules.checks_whole_model:
        return pool
    everywhere = tuple(replace(page, layers=page.model_layers) for page in pool.pages)
    return make_pool(everywhere, pool.request, pool.rules)


def _logged(pool: KvPool, blocks: int, request_blocks: int) -> tuple[int, float]:
    """The logged pair: tokens, and requests of full length at once, each of `request_blocks`."""
    length = pool.request.max_model_len
    block = min(group.block for group in pool.groups)
    tokens = blocks // len(pool.groups) * block * pool.request.dcp
    if pool.rules.concurrency == "tokens":
        return tokens, tokens / length
    concurrency = blocks / request_blocks
    return int(concurrency * length) if pool.rules.derives_tokens else tokens, concurrency


def longest_context(pool: KvPool, usable_bytes: int, limit: int) -> int:
    """The longest request up to `limit` tokens whose memory fits, 0 if none does; the engine's binary search."""
    # Most searches end at once: the whole length fits, or not one token.
    if pool.needed_bytes(limit) <= usable_bytes:
        return limit
    if pool.needed_bytes(1) > usable_bytes:
        return 0
    return find_largest(limit - 1, lambda length: pool.needed_bytes(length) <= usable_bytes)


def token_bytes(pool: KvPool) -> int:
    """Bytes of the pool each further token of context takes, rounded up."""
    return sum(ceil_div(pool.block_bytes, group.block * pool.request.dcp) for group in pool.groups if group.grows)


def fixed_bytes(pool: KvPool) -> int:
    """Bytes of the pool one request of full length takes for windows and states."""
    wanted = pool.demand(pool.request.max_model_len)
    return pool.block_bytes * sum(group.blocks(wanted) for group in pool.groups if not group.grows)
