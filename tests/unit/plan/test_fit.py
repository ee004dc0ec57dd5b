"""Whole questions and their answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tonnage.errors import UsageError
from tonnage.plan.fit import answer_question
from tonnage.plan.question import Question

FIELDS = {
    "id", "fits", "verdict", "reason", "model", "fleet", "engine", "engine_version", "layout", "ranks", "busiest_rank",
    "weights_bytes_per_rank", "kv_cache_bytes_per_rank", "kv_bytes_per_token_per_rank", "kv_cache_tokens",
    "max_concurrency_x", "kv_needed_bytes", "max_context", "load_peak_bytes", "remedies", "notes",
}  # fmt: skip


def fit(model: str, gpu: str, with_remedies: bool = False, **fields: Any) -> dict[str, Any]:
    """The answer to a question."""
    return answer_question(Question(model, gpu, **fields), with_remedies)


@pytest.mark.parametrize(
    ("model", "gpu", "fields"),
    [
        ("Qwen/Qwen3-8B", "1xH100", {}),
        ("meta-llama/Meta-Llama-3.1-405B", "8xH100", {}),  # a no
        ("Qwen/Qwen3-8B", "4xH100", {"tp": 4, "ep": True}),  # refused, yet weighed
    ],
)
def test_every_answer_has_the_fields_of_the_contract(model: str, gpu: str, fields: dict[str, Any]) -> None:
    found = fit(model, gpu, **fields)
    assert set(found) >= FIELDS
    assert json.loads(json.dumps(found)) == found


def test_the_id_comes_back() -> None:
    assert fit("Qwen/Qwen3-8B", "1xH100", id="q7")["id"] == "q7"
    assert fit("Qwen/Qwen3-8B", "1xH100")["id"] is None


def test_a_layout_that_cannot_be_cut_is_a_no_without_numbers() -> None:
    found = fit("Qwen/Qwen3-8B", "8xH100", tp=3)
    assert (found["fits"], found["verdict"], found["layout"], found["ranks"]) == (False, "layout-invalid", None, [])
    assert "total number of attention heads (32)" in found["reason"]


def test_a_layout_for_more_cards_than_there_are_is_a_no() -> None:
    found = fit("Qwen/Qwen3-8B", "2xH100", tp=4)
    assert (found["fits"], found["verdict"]) == (False, "layout-invalid")
    assert found["reason"] == "layout: TP4 needs 4 cards: at most the 2 given"


@pytest.mark.parametrize(
    ("model", "gpu", "fields", "verdict"),
    [
        ("Qwen/Qwen3-8B", "1xH100", {}, "fits"),
        ("meta-llama/Meta-Llama-3.1-405B", "8xH100", {"tp": 8}, "weights-exceed-card"),
        ("Qwen/Qwen3-8B", "1xRTX4090", {"max_model_len": 40_960}, "kv-too-small"),
        ("Qwen/Qwen3-8B", "1xH100", {"concurrency": 1000}, "kv-too-small"),
        ("Qwen/Qwen3-8B", "4xH100", {"tp": 4, "ep": True}, "layout-invalid"),
        ("Qwen/Qwen3-235B-A22B-FP8", "8xH100", {"tp": 8, "engine_version": "0.10.0"}, "layout-invalid"),
        ("Qwen/Qwen3-235B-A22B-FP8", "8xMI250X", {"tp": 4}, "unsupported"),
        ("Qwen/Qwen3-8B", "1xV100", {"quantization": "awq"}, "unsupported"),
    ],
)
def test_verdicts(model: str, gpu: str, fields: dict[str, Any], verdict: str) -> None:
    found = fit(model, gpu, **fields)
    assert found["verdict"] == verdict
    assert found["fits"] is (verdict == "fits")


def test_gpt_oss_120b_on_h100() -> None:
    # https://github.com/vllm-project/vllm/issues/23278: 65.97 GiB with Marlin's padding.
    found = fit("openai/gpt-oss-120b", "1xH100", engine_version="0.10.1")
    assert found["weights_bytes_per_rank"] / 2**30 == pytest.approx(65.97, rel=0.002)


def test_qwen3_235b_in_fp8_over_four_h100() -> None:
    # https://github.com/vllm-project/vllm/issues/21348: 8.11 GiB of cache hold 178,880 tokens, within 1.1 %.
    found = fit(
        "Qwen/Qwen3-235B-A22B-FP8", "4xH100", tp=4, engine_version="0.10.0", max_model_len=32_768,
        kv_cache_memory_bytes=int(8.11 * 2**30),
    )  # fmt: skip
    assert found["kv_cache_tokens"] == pytest.approx(178_880, rel=0.012)
    # 94 layers x 1 head x 256 x 2 B.
    assert found["kv_bytes_per_token_per_rank"] == 48_128


def test_mixed_formats_need_no_table_on_other_vendors() -> None:
    assert fit("Qwen/Qwen3-235B-A22B-FP8", "8xGaudi 3", tp=4)["verdict"] != "unsupported"


def test_32_bit_floats_are_no_method_a_card_could_lack() -> None:
    # 8,190,735,360 parameters of 4 B.
    found = fit("Qwen/Qwen3-8B", "1xH100", quantization="fp32")
    assert found["fits"]
    assert found["weights_bytes_per_rank"] > 32_000_000_000


class TestNotes:
    """What a reader is told beside the numbers."""

    def test_a_chosen_layout_is_explained(self) -> None:
        assert fit("Qwen/Qwen3-8B", "2xH100")["because"][-1] == "TP2 is the simplest layout, and it fits"

    def test_a_stated_one_is_not(self) -> None:
        found = fit("Qwen/Qwen3-8B", "2xH100", tp=2)
        assert found["notes"] == []
        assert not any("simplest layout" in reason for reason in found["because"])

    def test_a_shortened_context(self) -> None:
        found = fit("Qwen/Qwen3-8B", "1xRTX4090")
        length = found["serving"]["max_model_len"]
        assert found["fits"]
        assert length < 40_960
        assert any(f"maximum length of {length:,}" in note and "40,960" in note for note in found["notes"])

    def test_an_asked_context_is_not_shortened(self) -> None:
        found = fit("Qwen/Qwen3-8B", "1xRTX4090", max_model_len=40_960)
        assert not any("maximum length" in note for note in found["notes"])

    def test_rules_of_another_version(self) -> None:
        found = fit("Qwen/Qwen3-8B", "1xH100", engine_version="0.99.0")
        assert found["engine_version"] == "0.33.0"
        assert any("0.99.0 is newer" in note for note in found["notes"])

    def test_another_precision(self) -> None:
        notes = fit("Qwen/Qwen3-8B", "1xH100", quantization="fp8")["notes"]
        assert any("taken as if published in fp8" in note for note in notes)

    def test_a_card_nobody_knows(self) -> None:
        found = fit("Qwen/Qwen3-8B", "Zephyr 9", kv_cache_memory_bytes=8 * 2**30)
        assert found["fits"]
        assert any("capacity is not known" in note for note in found["notes"])

    def test_a_card_without_the_arithmetic_says_so(self) -> None:
        # Ampere has no fp8 units (compute capability 8.0, fp8 from 8.9).
        notes = fit("Qwen/Qwen3-32B-FP8", "1xA100 80GB")["notes"]
        assert any("unpacks fp8 to 16 bit" in note for note in notes)
        assert not any("unpacks" in note for note in fit("Qwen/Qwen3-32B-FP8", "1xH100")["notes"])

    def test_refused_layouts_keep_the_notes_of_the_engine(self) -> None:
        notes = fit("Qwen/Qwen3-8B", "8xH100", tp=3, engine_version="0.99.0")["notes"]
        assert any("0.99.0 is newer" in note for note in notes)


def test_offloading_makes_room() -> None:
    # 15.27 GiB of weights on a card of 14.6: 8 GiB of them go to the host.
    assert fit("Qwen/Qwen3-8B", "1xT4", tp=1)["verdict"] == "weights-exceed-card"
    assert fit("Qwen/Qwen3-8B", "1xT4", tp=1, cpu_offload_gb=8, max_model_len=4096)["fits"]


@pytest.mark.parametrize("fields", [{"model": "no/model"}, {"gpu": "8xNope"}, {"engine": "nope"}, {"tp": 5000}])
def test_unknown_names_are_errors_not_answers(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        fit(**{"model": "Qwen/Qwen3-8B", "gpu": "1xH100"} | fields)
