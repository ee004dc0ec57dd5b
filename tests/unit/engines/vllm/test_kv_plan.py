"""The plan of a rank without a cache."""

from __future__ import annotations

from tonnage.engines.vllm.kv_plan import empty_plan


def test_a_rank_that_caches_nothing_starts() -> None:
    plan = empty_plan(16, 4096)
    assert plan.fits
    assert (plan.block_size, plan.max_context, plan.needed_bytes, plan.tokens) == (16, 4096, 0, 0)
