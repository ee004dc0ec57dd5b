"""The cache plan of one rank."""

from __future__ import annotations

from tonnage.value import value


@value
class KvPlan:
    """What the engine makes of the memory.

    `block_size` tokens per block of the cache that grows, `num_blocks` of `bytes_per_block` bytes each, shared by
    `num_groups` block tables. `tokens` and `concurrency` are the two logged numbers. `needed_bytes` is what one request
    of full length is counted with at start, `request_blocks` its blocks. `max_context` is the longest request that
    fits (0: none); `token_bytes` the growth per token of context, rounded up, `fixed_bytes` what a request takes
    besides. `fits` says whether the engine starts.
    """

    block_size: int
    num_groups: int
    bytes_per_block: int
    num_blocks: int
    tokens: int
    concurrency: float
    request_blocks: int
    needed_bytes: int
    max_context: int
    token_bytes: int
    fixed_bytes: int
    fits: bool


def empty_plan(block_size: int, max_context: int) -> KvPlan:
    """The plan of a rank that caches nothing: it always starts."""
    return KvPlan(block_size, 0, 0, 1, 0, 0.0, 0, 0, max_context, 0, 0, True)
