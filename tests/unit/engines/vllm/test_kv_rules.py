"""The switch points of the cache rules, on both sides of each."""

from __future__ import annotations

import pytest

from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.version import Version


@pytest.mark.parametrize(
    ("field", "before", "value_before", "since", "value_since"),
    [
        ("is_v0", (0, 7, 3), True, (0, 8), False),
        ("has_hybrid_manager", (0, 8, 5), False, (0, 9), True),
        ("manages_chunks", (0, 13), False, (0, 14), True),
        ("stretch", (0, 11), None, (0, 12), (5, 4)),
        ("stretch", (0, 17, 1), (5, 4), (0, 18), (3, 2)),
        ("needed", (0, 13), "layers", (0, 14), "first_group"),
        ("needed", (0, 19, 1), "first_group", (0, 20), "groups"),
        ("needed", (0, 28), "groups", (0, 29), "pool"),
        ("checks_whole_model", (0, 13), False, (0, 14), True),
        ("checks_whole_model", (0, 16), True, (0, 17), False),
        ("packing", (0, 22, 1), "tuples", (0, 23), "pages"),
        ("packing", (0, 26), "pages", (0, 27), "widest"),
        ("pads_windows", (0, 26), True, (0, 27), False),
        ("packs_buckets", (0, 28), False, (0, 29), True),
        ("concurrency", (0, 8, 5), "tokens", (0, 9, 2), "bytes"),
        ("concurrency", (0, 26), "bytes", (0, 27), "blocks"),
        ("derives_tokens", (0, 20, 2), False, (0, 21), True),
        ("reserves_null_block", (0, 28), False, (0, 29), True),
        ("counts_batches", (0, 25, 1), False, (0, 26), True),
        ("counts_drafted_states", (0, 14), False, (0, 15), True),
        ("checkpointed", (0, 28), (), (0, 29), ("kda",)),
        ("checkpointed", (0, 31), ("kda",), (0, 32), ("kda", "mamba2")),
        ("state_mode", (0, 27, 1), "none", (0, 28), "align"),
        ("aligns_latent_states", (0, 26), False, (0, 27), True),
    ],
)
def test_switch(
    field: str, before: tuple[int, ...], value_before: object, since: tuple[int, ...], value_since: object
) -> None:
    assert getattr(kv_rules(Version(*before)), field) == value_before
    assert getattr(kv_rules(Version(*since)), field) == value_since
