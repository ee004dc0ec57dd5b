"""Names resolved against the catalogue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tonnage.catalog.models import load_presets
from tonnage.model.params import count_params
from tonnage.plan.presets import refuse, resolve

BILLION = 10**9


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct (FP8)", 70.55),
        ("Qwen/Qwen3-8B (inferred)", 8.19),
        ("deepseek-ai/DeepSeek-V4-Flash (DSpark)", 284.33),
        ("moonshotai/Kimi-K3 + DSpark draft", 2779.48),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", 14.77),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", 8.19),
        ("Meta-Llama-3.1-8B", 8.03),
        ("unsloth/Llama-3.1-8B-Instruct", 8.03),
        ("nvidia/Llama-3.1-Nemotron-8B-UltraLong-1M-Instruct", 8.03),
        ("Qwen/Qwen2.5-Coder-14B-Instruct", 14.77),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", 235.09),
        ("cyankiwi/gemma-4-26B-A4B-it-qat-AWQ-INT4", 25.23),
        ("lukealonso/MiniMax-M3-MXFP8-NVFP4", 426.17),
        ("DeepSeek R1 0528", 671.03),
        ("Qwen3-8B medical fine-tune", 8.19),
    ],
)
def test_names_that_people_write(name: str, billions: float) -> None:
    found = resolve(name)
    assert found is not None
    assert count_params(found.arch).text / BILLION == pytest.approx(billions, abs=0.006)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Qwen/Qwen3-9B",
        "someone/Unheard-of-Model",
        "Qwen3-8B-GGUF",
        "DeepSeek-V5",
        "Mistral-Small-Instruct-2499",
        "/",
    ],
)
def test_nothing_is_taken_for_another_model(name: str) -> None:
    assert resolve(name) is None


def test_an_exact_name_needs_no_note() -> None:
    found = resolve("qwen/QWEN3-8b")
    assert found is not None
    assert (found.id, found.notes) == ("Qwen/Qwen3-8B", ())


def test_what_was_derived_is_said() -> None:
    tuned = resolve("someone/Qwen3-8B-Chat")
    assert tuned is not None
    assert tuned.notes == ("someone/Qwen3-8B-Chat: taken to have the shape of Qwen/Qwen3-8B",)
    built = resolve("RedHatAI/Qwen3-14B-FP8-dynamic")
    assert built is not None
    assert "Qwen/Qwen3-14B stored in compressed-tensors" in built.notes[0]


def test_a_precision_in_parentheses_counts() -> None:
    found = resolve("meta-llama/Llama-3.3-70B-Instruct (FP8)")
    assert found is not None
    assert found.arch.scheme is not None
    assert any("taken as if published in fp8" in note for note in found.notes)


def test_an_owner_s_build_is_its_own() -> None:
    theirs, ours = resolve("RedHatAI/Qwen3.6-35B-A3B-NVFP4"), resolve("nvidia/Qwen3.6-35B-A3B-NVFP4")
    bare = resolve("Qwen3.6-35B-A3B-NVFP4")
    assert theirs is not None
    assert ours is not None
    assert bare is not None
    assert ours.arch == bare.arch
    assert theirs.arch.scheme != ours.arch.scheme


def test_the_refusal_names_the_nearest() -> None:
    error = refuse("Qwen/Qwen3-8C")
    assert "unknown 'Qwen/Qwen3-8C'" in error.line
    assert "Qwen/Qwen3-8B" in error.line
    assert "hf:ORG/NAME" in refuse("???").line
    assert len(refuse("x" * 10_000).line) < 400


@pytest.mark.parametrize("model", load_presets().ids)
def test_every_model_of_the_catalogue_resolves_to_itself(model: str) -> None:
    found = resolve(model)
    assert found is not None
    assert found.id == model


# Parts that tonnage does not model, no published facts, or no single model meant.
UNRESOLVED = {
    "Zyphra/Zamba2-2.7B",
    "thinkingmachines/Inkling-Small (Quark MXFP4)",
    "nvidia/NVIDIA-Nemotron-Labs-3-Puzzle-75B-A9B-NVFP4",
    "RadixArk/Qwen3.8-Flash-Next-NVFP4",
    "bosonai/higgs-tts-3-4b",
    "DeepSeek-V3/R1 class",
    "Qwen3.5/3.8-27B class with MTP draft",
}


@pytest.mark.parametrize("file", ["vllm_memory.jsonl", "vllm_memory_2.jsonl", "sglang_memory.jsonl"])
def test_names_in_start_up_logs(shared: Path, file: str) -> None:
    rows = [json.loads(line) for line in (shared / "evidence" / file).read_text(encoding="utf-8").splitlines()]
    names = {row["model"] for row in rows if "/" in str(row.get("model"))}
    assert {name for name in names if resolve(name) is None} <= UNRESOLVED
