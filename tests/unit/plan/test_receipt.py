"""A log beside its prediction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tonnage.errors import UnreadableError, UsageError
from tonnage.plan.calibration import load_calibration
from tonnage.plan.prediction import model_name
from tonnage.plan.receipt import receipt
from tonnage.seams.data_folder import CALIBRATION_FILE

GIB = 2**30
# https://github.com/vllm-project/vllm/issues/10517 (Llama 3.1 8B on an RTX 3090, 0.6.4)
LOG = """\
Loading model weights took 14.9888 GB
Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.06GiB \
memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB kv_cache_size=3.81GiB gpu_memory_utilization=0.90
GPU blocks: 1952, # CPU blocks: 2048
Maximum concurrency for 20000 tokens per request: 1.56x
"""
# the lines of https://github.com/vllm-project/vllm/pull/17122 with round figures, and the cache as 0.9 words it
SPARSE = """\
INFO 04-24 16:33:00 [gpu_model_runner.py:1316] Model loading took 15.0 GiB and 3.652170 seconds
INFO 04-24 16:33:12 [gpu_worker.py:1] Available KV cache memory: 19.0 GiB
INFO 04-24 16:33:13 [kv_cache_utils.py:634] GPU KV cache size: 158,656 tokens
"""
ANSWER: dict[str, Any] = {
    "fits": True,
    "engine": "vllm",
    "engine_version": "0.6.4",
    "model": {"id": "meta-llama/Llama-3.1-8B-Instruct", "family": "llama"},
    "fleet": {"accelerator": "rtx-3090", "count": 1},
    "busiest_rank": 1,
    "ranks": [
        {"rank": 0, "lines": [{"name": "weights", "bytes": 1}]},
        {
            "rank": 1,
            "budget_bytes": 40 * GIB,
            "lines": [
                {"name": "weights", "bytes": 15 * GIB},
                {"name": "activations", "bytes": 2 * GIB},
                {"name": "context", "bytes": GIB // 4},
                {"name": "communication", "bytes": GIB // 8},
                {"name": "kv_cache", "bytes": 4 * GIB},
            ],
        },
    ],
    "kv_cache_tokens": 32_000,
    "max_concurrency_x": 1.6,
}


def sizes(lines: list[dict[str, Any]]) -> dict[str, float]:
    """Line names and GiB."""
    return {line["name"]: round(line["bytes"] / GIB, 3) for line in lines}


def test_measured_beside_an_answer() -> None:
    answer = receipt(LOG, ANSWER)
    assert sizes(answer["lines"]) == {"weights": 14.989, "activations": 2.071, "context": 0.35, "kv_cache": 3.81}
    predicted = answer["predicted"]
    assert predicted["kv_cache_tokens"] == 32_000
    assert predicted["budget_bytes"] == 40 * GIB
    assert predicted["model"] == ANSWER["model"]
    # the log has no communication of its own: 1/4 + 1/8
    assert sizes(predicted["lines"]) == {"weights": 15.0, "activations": 2.0, "context": 0.375, "kv_cache": 4.0}
    assert {name: round(size / GIB, 3) for name, size in answer["differences"].items()} == {
        "weights": -0.011,  # 14.9888 - 15
        "activations": 0.071,  # 17.06 - 14.9888 - 2
        "context": -0.025,  # 0.35 - 0.375
        "kv_cache": -0.19,  # 3.81 - 4
    }
    assert "one figure" in answer["notes"][0]
    json.dumps(answer)


def test_contract_shape() -> None:
    answer = receipt(LOG, ANSWER)
    assert {"engine", "engine_version", "lines", "kv_cache_tokens", "max_concurrency_x", "predicted"} <= set(answer)
    assert (answer["engine"], answer["kv_cache_tokens"], answer["max_concurrency_x"]) == ("vllm", 31_232, 1.56)
    assert set(answer["lines"][0]) == {"name", "bytes", "low", "high", "basis", "trace"}


def test_a_log_that_names_neither_model_nor_card() -> None:
    answer = receipt(LOG)
    assert answer["predicted"] is None
    assert answer["differences"] == {}
    assert answer["notes"] == ["no prediction: the log names no model and no card; say it with --against"]


def test_a_question_completes_the_log() -> None:
    question = {"model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "RTX 3090", "engine_version": "0.6.4"}
    answer = receipt(LOG, question)
    told = sizes(answer["predicted"]["lines"])
    # 8,030,261,248 parameters x 2 B = 14.958 GiB, and the rotary table of 131,072 x 128 x 2 B = 0.031 GiB
    assert told["weights"] == pytest.approx(14.989, abs=0.005)
    assert answer["predicted"]["kv_cache_tokens"] == pytest.approx(31_232, rel=0.1)
    assert answer["settings"]["gpu_memory_utilization"] == 0.9


def test_errors_of_a_stated_question_are_the_users() -> None:
    with pytest.raises(UsageError):
        receipt(LOG, {"model": "no such model at all", "gpu": "RTX 3090"})


def test_names_in_the_log_that_mean_nothing_here_are_a_note() -> None:
    named = LOG + "INFO non-default args: {'model': '/data/of/somebody'}\nGPU 0: NVIDIA RTX 3090\n"
    answer = receipt(named)
    assert answer["predicted"] is None
    assert answer["notes"][0].startswith("no prediction: ")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("org/name", "org/name"),
        (
            "/root/.cache/hub/models--deepseek-ai--DeepSeek-V4-Flash/snapshots/7872f01b/",
            "deepseek-ai/DeepSeek-V4-Flash",
        ),
        ("/nowhere/at/all/Qwen3-8B/", "Qwen3-8B"),
        ("./Qwen/Qwen3-8B", "./Qwen/Qwen3-8B"),
        ("/", "/"),
    ],
)
def test_model_behind_a_path(text: str, name: str) -> None:
    assert model_name(text) == name


def test_saved_difference(tmp_path: Path) -> None:
    answer = receipt(iter(LOG.splitlines()), ANSWER, is_saved=True, folder=str(tmp_path))
    assert answer["notes"][-1] == "kept for later answers about vllm 0.6, rtx-3090 and models of family llama"
    (kept,) = load_calibration(str(tmp_path / CALIBRATION_FILE))
    assert (kept.key.engine, kept.key.version, kept.key.card, kept.key.family) == ("vllm", "0.6", "rtx-3090", "llama")
    assert kept.weights_ratio == 0.999253  # 14.9888 / 15
    assert {name: round(size / GIB, 3) for name, size in kept.differences.items()} == {
        "context": -0.025,
        "activations": 0.071,
    }


def test_saved_where_the_log_gives_no_parts(tmp_path: Path) -> None:
    receipt(SPARSE, ANSWER, is_saved=True, folder=str(tmp_path))
    (kept,) = load_calibration(str(tmp_path / CALIBRATION_FILE))
    # measured 40 - 15 - 19 = 6; predicted 40 - 15 - 4 = 21
    assert kept.differences == {"rest": -15 * GIB}


def test_the_estimate_of_graphs_is_what_the_cache_lost(tmp_path: Path) -> None:
    graphs = "Estimated CUDA graph memory: 0.5 GiB total\nGraph capturing finished in 2 secs, took 0.1 GiB\n"
    ranks = [dict(ANSWER["ranks"][1], lines=[*ANSWER["ranks"][1]["lines"], {"name": "cuda_graphs", "bytes": GIB}])]
    receipt(LOG + graphs, ANSWER | {"ranks": ranks}, is_saved=True, folder=str(tmp_path))
    (kept,) = load_calibration(str(tmp_path / CALIBRATION_FILE))
    assert kept.differences["cuda_graphs"] == -GIB // 2  # 0.5 - 1


def test_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no prediction"):
        receipt(LOG, is_saved=True, folder=str(tmp_path))
    with pytest.raises(UsageError, match="unknown"):
        receipt(LOG, {"lines": ANSWER["ranks"][1]["lines"]}, is_saved=True, folder=str(tmp_path))
    with pytest.raises(UsageError, match="nothing to compare"):
        receipt("GPU KV cache size: 1 tokens", ANSWER | {"ranks": []}, is_saved=True, folder=str(tmp_path))
    assert not (tmp_path / CALIBRATION_FILE).exists()


def test_no_log() -> None:
    with pytest.raises(UnreadableError):
        receipt("nothing of interest")
