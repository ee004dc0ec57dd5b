"""Builds recognised by name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.model.quantization.derived import ENDINGS, scheme_from_name
from tonnage.model.quantization.formats import stored_bytes
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.precision import scheme_for

UP = "model.layers.3.mlp.up_proj"

NAMES = [
    ("RedHatAI/Qwen3-14B-FP8-dynamic", "Qwen3-14B", "fp8-channel"),
    ("RedHatAI/gemma-4-31B-it-FP8-block", "gemma-4-31B-it", "fp8-block-128x128"),
    ("RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8", "Meta-Llama-3.1-70B-Instruct", "fp8-tensor-static"),
    ("nvidia/Llama-3.1-70B-Instruct-FP8", "Llama-3.1-70B-Instruct", "fp8-tensor-static"),
    ("Qwen/Qwen3-14B-FP8", "Qwen3-14B", "fp8-block-128x128"),
    ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "Qwen3-235B-A22B-Instruct-2507", "fp8-block-128x128"),
    ("amd/Meta-Llama-3.1-405B-Instruct-FP8-KV", "Meta-Llama-3.1-405B-Instruct", "fp8-tensor-static"),
    ("Qwen/Qwen2.5-7B-Instruct-AWQ", "Qwen2.5-7B-Instruct", "int4-g128-zero"),
    ("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "Meta-Llama-3.1-70B-Instruct", "int4-g128-zero"),
    ("cyankiwi/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit", "Qwen3-30B-A3B-Instruct-2507", "pack-int4-g32"),
    ("Qwen/Qwen1.5-7B-Chat-GPTQ-Int4", "Qwen1.5-7B-Chat", "int4-g128"),
    ("Qwen/Qwen2.5-32B-Instruct-GPTQ-Int8", "Qwen2.5-32B-Instruct", "int8-g128"),
    ("cpatonn/Qwen3-Coder-30B-A3B-Instruct-GPTQ-4bit", "Qwen3-Coder-30B-A3B-Instruct", "int4-g128"),
    ("RedHatAI/Qwen3-32B-quantized.w4a16", "Qwen3-32B", "pack-int4-g128"),
    ("neuralmagic/Meta-Llama-3.1-8B-quantized.w8a8", "Meta-Llama-3.1-8B", "int8-channel"),
    ("someone/Model-W4A16-G32", "Model", "pack-int4-g32"),
    ("google/gemma-4-E2B-it-qat-w4a16-ct", "gemma-4-E2B-it", "pack-int4-g32"),
    ("nvidia/Qwen3-32B-NVFP4", "Qwen3-32B", "nvfp4-g16"),
    ("LilaRest/gemma-4-31B-it-NVFP4-turbo", "gemma-4-31B-it", "nvfp4-g16"),
    ("amd/Llama-3.3-70B-Instruct-MXFP4", "Llama-3.3-70B-Instruct", "mxfp4"),
    ("MiniMaxAI/MiniMax-M3-MXFP8", "MiniMax-M3", "mxfp8"),
    ("RedHatAI/Qwen3.8-27B-INT4", "Qwen3.8-27B", "pack-int4-g128"),
    ("RedHatAI/Qwen3-32B-NVFP4", "Qwen3-32B", "nvfp4-g16"),
    ("poolside/Laguna-S-2.1-INT4", "Laguna-S-2.1", "pack-int4-g32"),
    ("someone/Model-INT8", "Model", "int8-channel"),
    ("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "Meta-Llama-3.1-8B-Instruct", "nf4-double"),
    ("Intel/Qwen3-32B-int4-AutoRound", "Qwen3-32B", "int4-g128"),
    ("Qwen3-14B-AWQ", "Qwen3-14B", "int4-g128-zero"),
]


@pytest.mark.parametrize(("name", "base", "form"), NAMES)
def test_bases_and_formats(name: str, base: str, form: str) -> None:
    derived = scheme_from_name(name)
    assert derived is not None
    assert derived.scheme is not None
    assert base in derived.bases
    found = format_of(derived.scheme, UP)
    assert found is not None
    assert found.name == form


def test_the_owner_comes_first_and_tunings_last() -> None:
    derived = scheme_from_name("Qwen/Qwen2.5-7B-Instruct-AWQ")
    assert derived is not None
    assert derived.bases == ("Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B-Instruct", "Qwen2.5-7B")


def test_dates_and_tunings_are_taken_off_one_by_one() -> None:
    derived = scheme_from_name("Qwen3-235B-A22B-Instruct-2507-FP8")
    assert derived is not None
    assert derived.bases == ("Qwen3-235B-A22B-Instruct-2507", "Qwen3-235B-A22B-Instruct", "Qwen3-235B-A22B")


def test_llama_has_two_spellings() -> None:
    derived = scheme_from_name("nvidia/Llama-3.1-70B-Instruct-FP8")
    assert derived is not None
    assert {"Meta-Llama-3.1-70B", "Llama-3.1-70B", "Meta-Llama-3.1-70B-Instruct"} <= set(derived.bases)


@pytest.mark.parametrize(
    "name",
    ["Qwen/Qwen3-8B", "meta-llama/Llama-3.3-70B-Instruct", "x", "", "/", "-FP8", "a/-AWQ", "model-exl3", "m-GGUF"],
)
def test_other_names_are_none(name: str) -> None:
    assert scheme_from_name(name) is None


@pytest.mark.parametrize("name", ["TheBloke/CodeLlama-13B-Instruct-fp16", "nvidia/Nemotron-3-Nano-30B-A3B-BF16"])
def test_16_bit_copies_have_a_base_and_no_scheme(name: str) -> None:
    derived = scheme_from_name(name)
    assert derived is not None
    assert derived.scheme is None
    assert derived.bases[0] == name.rsplit("-", 1)[0]


def test_kimi_k2_thinking_is_int4_without_saying_so() -> None:
    derived = scheme_from_name("moonshotai/Kimi-K2-Thinking")
    assert derived is not None
    assert derived.scheme is not None
    expert = format_of(derived.scheme, "model.layers.5.mlp.experts.up_proj")
    assert expert is not None
    assert expert.name == "pack-int4-g32"
    assert format_of(derived.scheme, "model.layers.5.self_attn.q_b_proj") is None


def test_experts_alone_in_mixtures() -> None:
    derived = scheme_from_name("nvidia/Qwen3.6-35B-A3B-NVFP4", is_moe=True)
    assert derived is not None
    assert derived.scheme is not None
    assert format_of(derived.scheme, "model.language_model.layers.3.mlp.experts.gate_up_proj") is not None
    assert format_of(derived.scheme, "model.language_model.layers.3.self_attn.q_proj") is None


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-405B-FP8", "meta-llama/Llama-3.1-405B-Instruct-FP8"])
def test_metas_own_fp8_meets_its_logged_size(name: str) -> None:
    derived = scheme_from_name(name)
    assert derived is not None
    assert derived.scheme is not None
    shapes = {"self_attn.q_proj": (16384, 16384), "self_attn.o_proj": (16384, 16384)}
    shapes |= {"self_attn.k_proj": (1024, 16384), "self_attn.v_proj": (1024, 16384)}
    shapes |= {"mlp.gate_proj": (53248, 16384), "mlp.up_proj": (53248, 16384), "mlp.down_proj": (16384, 53248)}
    total = 2 * 128256 * 16384 * 2  # embedding and head
    for layer in range(126):
        for part, (rows, cols) in shapes.items():
            form = format_of(derived.scheme, f"model.layers.{layer}.{part}")
            total += stored_bytes(form, rows, cols) if form else 2 * rows * cols
    # 56.7677 GiB logged on each of 8 ranks, rope table and replicated norms included
    assert total / 8 / 2**30 == pytest.approx(56.7677, abs=0.05)


def test_every_ending_means_a_precision_and_has_a_reason() -> None:
    for row in ENDINGS:
        scheme_for(row.precision)
        assert row.reason
        assert all(ending == ending.lower() and ending.startswith("-") for ending in row.endings)
        assert all(owner == owner.lower() for owner in row.owners)


def test_no_ending_hides_a_longer_one_behind_it() -> None:
    everyone = [ending for row in ENDINGS if not row.owners for ending in row.endings]
    for place, ending in enumerate(everyone):
        assert not any(later.endswith(ending) and later != ending for later in everyone[place + 1 :])


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_answered(name: str) -> None:
    derived = scheme_from_name(name)
    assert derived is None or all(derived.bases)
