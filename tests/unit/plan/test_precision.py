"""What-if precisions."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.catalog.models import find_preset
from tonnage.errors import UsageError
from tonnage.model.arch import Arch
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.precision import RECIPES, scheme_for
from tonnage.model.record import from_record
from tonnage.plan.precision import apply_precision, find_precision, read_precision, stored_kinds

DENSE = "model.layers.5.mlp.up_proj"


def model(name: str) -> Arch:
    """A model of the catalogue."""
    preset = find_preset(name)
    assert preset is not None
    return from_record(preset.record)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fp8", "fp8"),
        ("FP8", "fp8"),
        ("fp8 (e4m3)", "fp8"),
        ("none (bf16)", "none"),
        ("bf16", "bf16"),
        ("compressed-tensors int4 (native)", "int4"),
        ("compressed-tensors-w4a16", "compressed-tensors-w4a16"),
        ("mxfp4 (native)", "mxfp4"),
        ("modelopt nvfp4", "nvfp4"),
        ("modelopt mixed nvfp4", "nvfp4"),
        ("quark mxfp4", "mxfp4"),
        ("nvfp4+mxfp8", "nvfp4-mxfp8"),
        ("autoround-int4", "autoround-int4"),
        ("bitsandbytes-4bit", "bitsandbytes-4bit"),
        ("gptq-int8", "gptq-int8"),
        ("int8-dynamic-act", "int8"),
        ("int4-g32", "int4-g32"),
        ("q4_k_m", "q4_k_m"),
        ("Q8_0 GGUF", "q8_0"),
        ("gguf", "gguf"),
        ("exl3", "exl3"),
    ],
)
def test_texts_people_write(text: str, name: str) -> None:
    assert find_precision(text) == name


@pytest.mark.parametrize(
    "text", ["", "inferred", "DSpark", "fp9", "int4-g0", "int4-gx", "int4-g99999", "(", "+", "mixed"]
)
def test_texts_that_name_none(text: str) -> None:
    assert find_precision(text) is None


def test_mixed_and_native_mean_as_stored() -> None:
    assert read_precision("fp4/fp8 mixed") == "fp8"
    assert read_precision("native") is None
    arch = model("deepseek-v4-flash")
    assert apply_precision(arch, "native").arch is arch


@pytest.mark.parametrize(
    ("text", "hint"),
    [("exl3", "EXL3"), ("gguf", "GGUF file"), ("fp9", "one of"), ("", "one of"), ("gguf ~3.93 bpw", "GGUF file")],
)
def test_unknown_ones_and_other_files_are_refused(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        apply_precision(model("qwen3-8b"), text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Qwen/Qwen3-8B", "bf16"),
        ("Qwen/Qwen3-8B", "fp16"),
        ("Qwen/Qwen3-8B", "none (bf16)"),
        ("Qwen/Qwen3-32B-FP8", "fp8"),
        ("moonshotai/Kimi-K2.5", "compressed-tensors int4 (native)"),
        ("moonshotai/Kimi-K2-Thinking", "int4"),
        ("openai/gpt-oss-120b", "mxfp4"),
        ("openai/gpt-oss-120b", "fp4"),
        ("moonshotai/Kimi-K3", "mxfp4 (native)"),
        ("nvidia/Qwen3-32B-NVFP4", "nvfp4"),
        ("nvidia/Qwen3-32B-NVFP4", "fp4"),
        ("deepseek-ai/DeepSeek-V4-Flash", "mxfp4"),
        ("deepseek-ai/DeepSeek-V4-Flash", "fp8"),
        ("deepseek-ai/DeepSeek-V4-Pro", "fp8 (e4m3)"),
        ("zai-org/GLM-4.7-FP8", "fp8"),
    ],
)
def test_what_is_stored_so_already_stays(name: str, text: str) -> None:
    arch = model(name)
    asked = apply_precision(arch, text)
    assert asked.arch is arch
    assert asked.notes == ()


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("Qwen/Qwen3-8B", "fp8", "fp8-channel"),
        ("Qwen/Qwen3-8B", "awq", "int4-g128-zero"),
        ("Qwen/Qwen3-8B", "int4-g64", "pack-int4-g64"),
        ("Qwen/Qwen3-8B", "gguf-q4_0", "ggml-q4_0"),
        ("Qwen/Qwen3-8B", "q8_0", "ggml-q8_0"),
        ("Qwen/Qwen3-8B", "nvfp4", "nvfp4-g16"),
        ("Qwen/Qwen3-8B", "mxfp4", "mxfp4"),
        ("Qwen/Qwen3-32B-FP8", "awq", "int4-g128-zero"),
        ("Qwen/Qwen3-32B-FP8", "bf16", None),
    ],
)
def test_another_format_replaces_the_stored_one(name: str, text: str, form: str | None) -> None:
    asked = apply_precision(model(name), text)
    found = format_of(asked.arch.scheme, DENSE) if asked.arch.scheme else None
    assert (found.name if found else None) == form
    assert len(asked.notes) == 1
    assert "taken as if published" in asked.notes[0]


def test_experts_alone_where_builds_do_so() -> None:
    arch = apply_precision(model("Qwen/Qwen3-30B-A3B"), "nvfp4").arch
    assert arch.scheme is not None
    assert format_of(arch.scheme, "model.layers.0.mlp.experts.up_proj") is not None
    assert format_of(arch.scheme, "model.layers.0.self_attn.q_proj") is None


def test_the_cache_type_follows_the_scheme() -> None:
    stored = model("amd/Llama-3.1-8B-Instruct-FP8-KV")
    assert stored.kv_dtype is not None
    assert apply_precision(stored, "bf16").arch.kv_dtype is None
    assert apply_precision(model("qwen3-8b"), "fp8-kv").arch.kv_dtype == "fp8"


def test_a_gguf_file_stays_what_it_is() -> None:
    arch = apply_precision(model("qwen3-8b"), "q8_0").arch
    assert apply_precision(arch, "gguf").arch is arch


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_a_kind(name: str) -> None:
    assert stored_kinds(scheme_for(name))


def test_no_scheme_has_no_kind() -> None:
    nothing: Any = None
    assert stored_kinds(nothing) == frozenset()


def test_quantised_while_loading() -> None:
    arch = model("Qwen/Qwen3-8B")
    asked = apply_precision(arch, "online-fp8")
    assert asked.arch.scheme is not None
    assert asked.arch.scheme.is_online
    assert asked.notes == ("quantised to fp8 while loading",)


def test_only_a_16_bit_checkpoint_can_be_quantised_while_loading() -> None:
    with pytest.raises(UsageError, match="stored quantised"):
        apply_precision(model("Qwen/Qwen3-32B-FP8"), "online-fp8")
    with pytest.raises(UsageError, match="magic"):
        apply_precision(model("Qwen/Qwen3-8B"), "online-magic")
