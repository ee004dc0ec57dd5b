"""Questions from JSON records."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.errors import TonnageError, UsageError
from tonnage.plan.question import Question

BASE = {"model": "Qwen/Qwen3-8B", "gpu": "H100"}


def test_missing_and_null_fields_are_defaults() -> None:
    question = Question.from_record(BASE | {"tp": None, "quantization": None})
    assert question == Question(model="Qwen/Qwen3-8B", gpu="H100")
    assert (question.gpu_count, question.engine, question.tp) == (None, "vllm", None)


def test_all_fields_of_the_contract_are_known() -> None:
    record = BASE | {
        "id": 7, "gpu_count": 4, "nodes": 1, "engine": "vllm", "engine_version": "0.10.0", "tp": 4, "pp": 1, "dp": 1,
        "ep": False, "dcp": 1, "dp_attention": False, "quantization": None, "kv_cache_dtype": "auto",
        "max_model_len": 32768, "max_num_seqs": None, "max_num_batched_tokens": None, "block_size": None,
        "gpu_memory_utilization": 0.9, "mem_fraction_static": None, "enforce_eager": False, "cpu_offload_gb": None,
        "kv_cache_memory_bytes": None, "concurrency": None,
    }  # fmt: skip
    question = Question.from_record(record)
    assert question.id == "7"
    assert question.max_model_len == 32768


def test_an_expert_parallel_size_is_read_as_yes_or_no() -> None:
    assert Question.from_record(BASE | {"ep": 16}).ep is True
    assert Question.from_record(BASE | {"ep": 1}).ep is False


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gpu_count", 0),
        ("gpu_count", -8),
        ("gpu_count", 1.5),
        ("gpu_count", "8"),
        ("gpu_count", True),
        ("gpu_count", float("nan")),
        ("gpu_count", float("inf")),
        ("tp", 2**60),
        ("gpu_memory_utilization", 1.2),
        ("gpu_memory_utilization", 0),
        ("gpu_memory_utilization", "0.9"),
        ("mem_fraction_static", float("nan")),
        ("cpu_offload_gb", -1),
        ("enforce_eager", 1),
        ("dp_attention", "yes"),
        ("ep", -1),
        ("quantization", 8),
        ("gpus", "H100"),
    ],
)
def test_wrong_values_name_their_field(field: str, value: Any) -> None:
    with pytest.raises(UsageError) as refusal:
        Question.from_record(BASE | {field: value})
    assert field in refusal.value.line


@pytest.mark.parametrize("missing", ["model", "gpu"])
def test_model_and_gpu_are_needed(missing: str) -> None:
    with pytest.raises(UsageError, match=missing):
        Question.from_record({key: value for key, value in BASE.items() if key != missing})


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.lists(st.integers())


@given(st.dictionaries(st.sampled_from(["model", "gpu", "tp", "ep", "id", "kv_cache_dtype", "x"]), VALUES))
def test_any_record_is_a_question_or_one_line(record: dict[str, Any]) -> None:
    line = ""
    try:
        Question.from_record(record)
    except TonnageError as refusal:
        line = refusal.line
    assert "\n" not in line
