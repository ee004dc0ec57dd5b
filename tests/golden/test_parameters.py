"""Parameter counts of every known configuration against the published and the hand-derived numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tonnage.errors import TonnageError
from tonnage.model.config.arch import read_arch
from tonnage.model.params import Params, count_params

MIN_ANSWERED = 132

# Where the hand-derived numbers are known to miss something, with what they miss in parameters.
KNOWN = {
    # The output gate of the attention: 52 layers x hidden 6656 x 32 heads x 128.
    "meta-models/Muse-Glimmer-30B": 1_417_674_752,
    # Readers of stored residuals: two for each of 93 layers and one at the end, a norm and a vector of 7168 each.
    "moonshotai/Kimi-K3": 2_680_832,
    # Routing tables of the first three layers: 3 x vocabulary 129,280 x 6.
    "deepseek-ai/DeepSeek-V4-Flash": 2_327_040,
    "deepseek-ai/DeepSeek-V4-Pro": 2_327_040,
    "nvidia/DeepSeek-V4-Flash-NVFP4": 2_327_040,
    "nvidia/DeepSeek-V4-Pro-NVFP4": 2_327_040,
    "sgl-project/DeepSeek-V4-Flash-FP8": 2_327_040,
    "sgl-project/DeepSeek-V4-Pro-FP8": 2_327_040,
}
# Embedding and head that the checkpoint repeats although its configuration ties them, or buffers it stores.
REPEATED = ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-1.7B", "google/gemma-4-26B-A4B", "openai-community/gpt2")


def read_rows(shared: Path) -> dict[str, dict[str, Any]]:
    lines = (shared / "evidence" / "models.jsonl").read_text().splitlines()
    return {row["hf_id"]: row for row in map(json.loads, lines)}


def read_configs(shared: Path) -> dict[str, dict[str, Any]]:
    files = (file for file in sorted((shared / "models").glob("*.json")) if "hf_quant" not in file.name)
    return {file.stem.replace("__", "/"): json.loads(file.read_text()) for file in files}


def count_all(configs: dict[str, dict[str, Any]]) -> tuple[dict[str, Params], dict[str, str]]:
    counted, refused = {}, {}
    for name, config in configs.items():
        try:
            counted[name] = count_params(read_arch(config))
        except TonnageError as error:
            refused[name] = error.line
    return counted, refused


def by_basis(params: Params, basis: str) -> int:
    """The count that a row's basis speaks of."""
    if basis.startswith("with_mtp_dup"):
        return params.text + params.draft + params.duplicates
    if basis.startswith(("with_mtp", "total+1 MTP")):
        return params.text + params.draft
    return params.text + params.towers if basis == "total_with_vision" else params.text


def test_nearly_all_configurations_are_answered(shared: Path) -> None:
    counted, refused = count_all(read_configs(shared))
    assert len(counted) >= MIN_ANSWERED, refused


def test_text_models_match_the_hand_derived_numbers(shared: Path) -> None:
    rows = read_rows(shared)
    counted, _ = count_all(read_configs(shared))
    wrong = {}
    for name, params in counted.items():
        expected = rows[name].get("computed_params_text")
        # MiMo's row counts its prediction layer as text.
        if expected is None or expected in (params.text, params.text + params.draft):
            continue
        if params.text - expected != KNOWN.get(name):
            wrong[name] = params.text - expected
    assert not wrong


def test_whole_checkpoints_are_at_least_as_close_as_the_hand_derived_numbers(shared: Path) -> None:
    rows = read_rows(shared)
    counted, _ = count_all(read_configs(shared))
    wrong, errors = {}, {}
    for name, params in counted.items():
        check = rows[name].get("formula_check")
        if check is None or name in KNOWN:
            continue
        mine = by_basis(params, check["basis"])
        published = check["published"]
        # Some rows count the prediction layer as text.
        best = min((mine, mine + params.draft), key=lambda count: abs(count - published))
        errors[name] = best / published - 1
        if abs(best - published) > abs(check["computed"] - published):
            wrong[name] = best - check["computed"]
    for name, error in sorted(errors.items(), key=lambda item: -abs(item[1])):
        print(f"{name:60} {100 * error:+.4f} %")
    assert not wrong


def test_counts_with_towers_come_close_to_the_published_numbers(shared: Path) -> None:
    rows = read_rows(shared)
    counted, _ = count_all(read_configs(shared))
    far = {}
    for name, params in counted.items():
        check = rows[name].get("formula_check")
        if check is None or name in REPEATED:
            continue
        best = min(abs(whole / check["published"] - 1) for whole in (params.text, params.checkpoint))
        # Towers and prediction layers that a shortened configuration does not mention.
        if best > 0.025:
            far[name] = best
    assert not far


@pytest.mark.parametrize(
    ("name", "active_billions", "decoding_billions"),
    [
        ("openai/gpt-oss-120b", 5.71, 5.13),
        ("openai/gpt-oss-20b", 4.19, 3.61),
        ("moonshotai/Kimi-K2-Instruct", 32.86, 31.69),
        ("deepseek-ai/DeepSeek-V3", 37.55, 36.63),
        ("zai-org/GLM-5", 41.78, 40.83),
        ("MiniMaxAI/MiniMax-M2.7", 11.03, 10.42),
        ("Qwen/Qwen3-235B-A22B", 22.19, 21.57),
        ("Qwen/Qwen3.5-397B-A17B", 17.35, 16.33),
        ("Qwen/Qwen3.8-2.4T-A95B", 95.29, 93.25),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 56.06, 54.99),
    ],
)
def test_active_parameters(shared: Path, name: str, active_billions: float, decoding_billions: float) -> None:
    params = count_params(read_arch(read_configs(shared)[name]))
    assert round(params.active / 10**9, 2) == active_billions
    assert round(params.active_without_embedding / 10**9, 2) == decoding_billions
