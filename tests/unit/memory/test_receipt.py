"""Receipts: which rank's figure counts, and what a question may take over."""

from __future__ import annotations

from tonnage.figure import exact
from tonnage.memory.receipt import RankReceipt, Receipt, Settings, combine_lines
from tonnage.value import fields


def test_the_smallest_cache_and_the_largest_of_the_rest() -> None:
    first = RankReceipt("TP0", (exact("weights", 10, "a"), exact("kv_cache", 7, "a"), exact("cuda_graphs", 1, "a")))
    second = RankReceipt("TP1", (exact("weights", 11, "b"), exact("kv_cache", 5, "b")))
    lines = combine_lines((first, second))
    assert [(line.name, line.bytes, line.trace) for line in lines] == [
        ("weights", 11, "b"),
        ("kv_cache", 5, "b"),
        ("cuda_graphs", 1, "a"),
    ]


def test_no_ranks_no_lines() -> None:
    assert combine_lines(()) == ()


def test_a_missing_line_is_not_nothing() -> None:
    receipt = Receipt("vllm", lines=(exact("weights", 0, ""),))
    assert receipt.bytes_of("weights") == 0
    assert receipt.bytes_of("kv_cache") is None


def test_settings_leave_out_what_is_not_said() -> None:
    assert Settings().record() == {}
    settings = Settings(model="m", tp=2, enforce_eager=False, dtype="bfloat16", stored_quantization="awq_marlin")
    assert settings.record() == {
        "model": "m",
        "tp": 2,
        "dtype": "bfloat16",
        "stored_quantization": "awq_marlin",
        "enforce_eager": False,
    }
    assert settings.question() == {"model": "m", "tp": 2, "enforce_eager": False}


def test_every_setting_but_two_is_a_field_of_a_question() -> None:
    from tonnage.plan.question import Question

    assert set(fields(Settings)) - set(fields(Question)) == {"dtype", "stored_quantization"}
