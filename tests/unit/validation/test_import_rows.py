"""What is taken from collected measurements, and what stays out."""

from __future__ import annotations

from typing import Any

import pytest
from validation.import_rows import cache_type, file_type, llamacpp_row, model_of_title, oracle_row, published, vllm_row

LOG: dict[str, Any] = {
    "case_id": "a", "source_url": "https://example.org/log", "model": "org/name", "gpu": "H100 80GB", "engine": "vllm",
    "engine_version": "0.10.0", "tp": 2, "gpu_memory_utilization": 0.9, "max_model_len": 4096, "outcome": "started",
    "weights_gib_per_rank": 8.5, "kv_cache_gib_per_rank": 40.0, "notes": "somebody's words",
}  # fmt: skip


def test_facts_are_taken_and_words_are_not() -> None:
    (row,) = published([LOG], vllm_row)
    assert row["measured"] == {"weights_gib": 8.5, "pool_gib": 40.0}
    assert row["started"] is True
    assert row["question"]["tp"] == 2
    assert (row["id"], row["basis"], row["source"]) == ("a", "measured", "https://example.org/log")
    assert "somebody" not in str(row)


@pytest.mark.parametrize("address", ["stored-file:123", "", None, "a repository"])
def test_rows_without_a_public_address_stay_out(address: str | None) -> None:
    assert list(published([LOG | {"source_url": address}], vllm_row)) == []


@pytest.mark.parametrize("change", [{"model": "a name"}, {"gpu": None}, {"notes": "ODD: two totals"}])
def test_rows_that_cannot_be_asked_stay_out(change: dict[str, Any]) -> None:
    assert vllm_row(LOG | change) is None


def test_the_same_row_twice_is_one() -> None:
    assert len(list(published([LOG, LOG | {"case_id": "b"}], vllm_row))) == 1


@pytest.mark.parametrize("missing", ["engine_version", "gpu_memory_utilization", "max_model_len"])
def test_a_start_is_asked_only_where_its_conditions_are_known(missing: str) -> None:
    row = vllm_row({key: value for key, value in LOG.items() if key != missing})
    assert row is not None
    assert "started" not in row


def test_a_pool_that_was_too_small() -> None:
    row = vllm_row(LOG | {"outcome": "kv_too_small", "est_max_model_len": 2000})
    assert row is not None
    assert (row["started"], row["refused"]) == (False, True)
    assert row["measured"]["max_context"] == 2000


@pytest.mark.parametrize("value", [0, -2.14, None])
def test_values_that_say_nothing(value: float | None) -> None:
    row = vllm_row(LOG | {"kv_cache_gib_per_rank": value})
    assert row is not None
    assert "pool_gib" not in row["measured"]


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("Q4_K - Medium", "Q4_K_M"),
        ("Q2_K - Medium", "Q2_K"),
        ("Q8_0", "Q8_0"),
        ("IQ3_XXS - 3.0625 bpw", "IQ3_XXS"),
        ("BF16", "BF16"),
        ("IQ4_K_R4 - 4.5 bpw", None),
        ("UD-IQ3_XXS", None),
        ("None", None),
    ],
)
def test_file_types(words: str, form: str | None) -> None:
    assert file_type(words) == form


@pytest.mark.parametrize(
    ("title", "model"),
    [
        ("unsloth_DeepSeek R1 BF16", "deepseek-ai/DeepSeek-R1"),
        ("Qwen3-235B-A22B-128K", "Qwen/Qwen3-235B-A22B"),
        ("DeepSeek-R1-Distill-Qwen-32B (inferred)", None),
        ("LLaMA v2", None),
    ],
)
def test_titles(title: str, model: str | None) -> None:
    assert model_of_title(title) == model


def test_cache_types() -> None:
    assert cache_type({"cache_type_k": "q8_0", "cache_type_v": "q8_0"}) == "q8_0"
    assert cache_type({"cache_type_k": "q8_0", "cache_type_v": "q4_0"}) is None
    assert cache_type({"cache_type_k": "q8_0"}) is None  # values then have the default type
    assert cache_type({"cache_type_k": "q8_0", "mla_mode": "3"}) == "q8_0"
    assert cache_type({}) is None


def test_llamacpp_adds_the_caches_of_all_devices() -> None:
    devices = [{"device": "CUDA0", "kv_mib": 816.0}, {"device": "CUDA1", "kv_mib": 782.0}]
    row = llamacpp_row(
        {"model": "Qwen3 235B A22B", "engine": "llama.cpp", "quant_type": "Q6_K", "file_size": "179.75 GiB (6.57 BPW)",
         "n_ctx": 16384, "cache_type_k": "q8_0", "cache_type_v": "q8_0", "buffers": devices, "notes": ""}
    )  # fmt: skip
    assert row is not None
    assert row["measured"] == {"file_gib": 179.75, "kv_mib": 1598.0}
    assert row["question"]["quantization"] == "Q6_K"


def test_oracle_rows_are_one_rank_of_one_layout() -> None:
    row = oracle_row(
        {"model": "org__name", "tp": 8, "pp": 1, "ep": True, "rank": 0, "max_model_len": 32768,
         "kv_cache_dtype": "auto", "weight_bytes": 7, "num_blocks": 5, "available_kv_bytes": 9, "max_concurrency": 1.5,
         "kv_layers": [{"block_size": 128}, {"block_size": 128}]}
    )  # fmt: skip
    assert row["id"] == "org__name-tp8ep-r0-32768-auto"
    assert row["measured"] == {"weights_bytes": 7, "rank": 0, "concurrency": 1.5}
    assert row["question"]["block_size"] == 128
    assert row["question"]["model"] == "org/name"
