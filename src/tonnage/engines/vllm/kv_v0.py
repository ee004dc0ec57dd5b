"""The cache of the first engine generation (before 0.8): one pool of blocks for all layers at full length."""

from __future__ import annotations

from tonnage.engines.vllm.kv_block import DEFAULT_BLOCK
from tonnage.engines.vllm.kv_plan import KvPlan, empty_plan
from tonnage.memory.kv_spec import page_bytes
from tonnage.units import ceil_div

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_request import KvRequest
    from tonnage.memory.kv_spec import KvSpec


def plan_v0(specs: tuple[KvSpec, ...], request: KvRequest) -> KvPlan:
    """Blocks of 16 tokens; windows are not freed and recurrent states live outside the pool (vLLM 0.6 `worker.py`)."""
    block = request.block_size or DEFAULT_BLOCK
    per_block = sum(page_bytes(spec, block) * spec.layers for spec in specs if spec.kind not in ("state", "ring"))
    limit = request.context_limit or request.max_model_len
    if per_block == 0:
        return empty_plan(block, limit)
    blocks = max(0, request.available_bytes // per_block)
    wanted = ceil_div(request.max_model_len, block)
    return KvPlan(
        block_size=block,
        num_groups=1,
        bytes_per_block=per_block,
        num_blocks=blocks,
        tokens=blocks * block,
        concurrency=blocks * block / request.max_model_len,
        request_blocks=wanted,
        needed_bytes=wanted * per_block,
        max_context=min(limit, blocks * block),
        token_bytes=ceil_div(per_block, block),
        fixed_bytes=0,
        fits=request.max_model_len <= blocks * block,
    )
