"""Answers in the shape of the JSON contract."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.layout import Layout
from tonnage.plan import answer
from tonnage.plan.choose import Choice, choose
from tonnage.plan.desk import Desk, open_desk
from tonnage.plan.question import Question
from tonnage.plan.verdict import Verdict, refuse

# Qwen3-8B: 8,190,735,360 parameters of 2 B, a table of 40,960 x 128 x 2 B, 36 x 16 B of scales; embedding and head of
# 1,187 MiB each lie in blocks of 2 MiB.
WEIGHTS = 16_381_470_720 + 10_485_760 + 576 + 2 * 2**20
# 36 layers x 8 heads x (128 + 128) x 2 B.
TOKEN = 147_456


@pytest.fixture
def desk() -> Desk:
    """Qwen3-8B on one H100, the pool fixed to 100,000 tokens in blocks of 16."""
    return open_desk(Question("Qwen/Qwen3-8B", "1xH100", kv_cache_memory_bytes=6250 * 16 * TOKEN))


@pytest.fixture
def choice(desk: Desk) -> Choice:
    """Its only layout."""
    return choose(desk)


def test_numbers(choice: Choice) -> None:
    record = answer.numbers_record(choice.found)
    assert record["weights_bytes_per_rank"] == WEIGHTS
    assert record["kv_bytes_per_token_per_rank"] == TOKEN
    assert record["state_bytes_per_request_per_rank"] == 0
    assert record["kv_cache_bytes_per_rank"] == 14_745_600_000
    # 6,250 blocks over 2,560 a request; the log prints whole tokens.
    assert record["max_concurrency_x"] == 2.4414
    assert record["kv_cache_tokens"] == 100_000
    assert record["kv_needed_bytes"] == 40_960 * TOKEN
    assert (record["max_context"], record["busiest_rank"]) == (40_960, 0)
    assert record["serving"] == {
        "max_model_len": 40_960, "max_num_seqs": 1024, "max_num_batched_tokens": 8192, "kv_cache_dtype": "bfloat16",
        "fraction": 0.92, "block_size": 16,
    }  # fmt: skip


def test_replicas_add_their_caches() -> None:
    found = choose(open_desk(Question("Qwen/Qwen3-8B", "4xH100", tp=1, dp=4))).found
    record = answer.numbers_record(found)
    assert record["concurrency_all_replicas"] == pytest.approx(4 * record["max_concurrency_x"], abs=3e-4)
    assert len(record["ranks"]) == 4


def test_ranks_add_up(choice: Choice) -> None:
    record = answer.rank_record(choice.found.ranks[0])
    assert record["card_bytes"] - sum(line["bytes"] for line in record["lines"]) == record["free_bytes"]
    weights = record["lines"][0]
    assert (weights["name"], weights["bytes"], weights["basis"]) == ("weights", WEIGHTS, "derived")
    assert all(isinstance(line["bytes"], int) for line in record["lines"])
    assert record["host_bytes"] == 0


def test_a_line_without_trace_has_none(choice: Choice) -> None:
    from tonnage.figure import Line
    from tonnage.memory.ledger import Ledger
    from tonnage.plan.evaluate import RankResult

    rank = choice.found.ranks[0]
    bare = RankResult(rank.view, Ledger(0, 100, 90, (Line("other", 1, 1, 1, "assumed"),), 0), rank.pool, 0, 0)
    assert answer.rank_record(bare)["lines"] == [
        {"name": "other", "bytes": 1, "low": 1, "high": 1, "basis": "assumed"},
    ]


@pytest.mark.parametrize(
    ("layout", "record"),
    [
        (Layout(tp=8, pp=2), {"tp": 8, "pp": 2, "dp": 1, "ep": False, "dcp": 1, "dp_attention": False}),
        (Layout(dp=8, ep=True), {"tp": 1, "pp": 1, "dp": 8, "ep": True, "dcp": 1, "dp_attention": True}),
        (Layout(tp=4, dp=2, ep=True), {"tp": 4, "pp": 1, "dp": 2, "ep": True, "dcp": 1, "dp_attention": False}),
        (
            Layout(tp=8, dp=8, dp_inside_tp=True),
            {"tp": 8, "pp": 1, "dp": 8, "ep": False, "dcp": 1, "dp_attention": True},
        ),
    ],
)
def test_layouts(layout: Layout, record: dict[str, Any]) -> None:
    assert answer.layout_record(layout) == record | {"words": layout.words}


def test_what_was_asked_about(desk: Desk) -> None:
    record = answer.head_record(desk.model, desk.fleet, Layout())
    assert record["model"]["id"] == "Qwen/Qwen3-8B"
    assert record["model"]["parameters"]["total"] == 8_190_735_360
    assert record["model"]["stored_bytes"] == 16_381_470_720
    assert record["fleet"] == {
        "nodes": 1, "count": 1, "accelerator": "nvidia-h100-sxm-80gb", "name": "H100 SXM5 80GB",
    }  # fmt: skip
    assert answer.head_record(desk.model, desk.fleet, None)["layout"] is None


def test_tiers_of_a_node(desk: Desk, choice: Choice) -> None:
    tiers = answer.tiers_record(choice.found, desk.fleet, 2**40)["tiers"]
    assert tiers == {
        "hbm_bytes": choice.found.ranks[0].ledger.used_bytes, "host_bytes": 0, "disk_bytes": 0,
        "host_memory_bytes": 2**40,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("memory", "host", "disk"), [(None, 8 * 2**30, 0), (16 * 2**30, 8 * 2**30, 0), (2**30, 2**30, 7 * 2**30)]
)
def test_what_the_host_cannot_hold_goes_to_disk(memory: int | None, host: int, disk: int) -> None:
    desk = open_desk(Question("Qwen/Qwen3-8B", "2xH100", tp=2, cpu_offload_gb=4))
    tiers = answer.tiers_record(choose(desk).found, desk.fleet, memory)["tiers"]
    assert (tiers["host_bytes"], tiers["disk_bytes"]) == (host, disk)


def test_verdicts() -> None:
    assert answer.verdict_record(Verdict("fits", "room")) == {"fits": True, "verdict": "fits", "reason": "room"}
    assert answer.verdict_record(refuse(LayoutError("tp", 3, "4"))) == {
        "fits": False, "verdict": "layout-invalid", "reason": "tp: 3: 4",
    }  # fmt: skip
