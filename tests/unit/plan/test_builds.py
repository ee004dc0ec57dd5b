"""Builds recognised by the ends of their names."""

from __future__ import annotations

import pytest

from tonnage.catalog.models import load_presets
from tonnage.layout.parts import gather_parts
from tonnage.model.quantization.match import format_of
from tonnage.plan.builds import Build, build_named
from tonnage.plan.stored import stored_size

UP = "model.layers.3.mlp.up_proj"


def build(name: str) -> Build | None:
    """The build of this name."""
    return build_named(name, name, load_presets())


@pytest.mark.parametrize(
    ("name", "hidden", "form"),
    [
        ("RedHatAI/Qwen3-14B-FP8-dynamic", 5120, "fp8-channel"),
        ("neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", 4096, "int8-channel"),
        ("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", 8192, "int4-g128-zero"),
        ("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", 4096, "nf4-double"),
        ("amd/Llama-3.3-70B-Instruct-MXFP4", 8192, "mxfp4"),
        ("Qwen/Qwen1.5-7B-Chat-GPTQ-Int4", 4096, "int4-g128"),
        ("QuantTrio/Qwen3.6-27B-AWQ", 5120, "int4-g128-zero"),
        ("TheBloke/CodeLlama-13B-Instruct-fp16", 5120, None),
        ("Qwen3-14B-AWQ", 5120, "int4-g128-zero"),
    ],
)
def test_base_and_format(name: str, hidden: int, form: str | None) -> None:
    found = build(name)
    assert found is not None
    assert found.arch.hidden == hidden
    stored = format_of(found.arch.scheme, UP) if found.arch.scheme else None
    assert (stored.name if stored else None) == form
    assert found.notes[0].startswith(f"{name}: ")


@pytest.mark.parametrize("name", ["Qwen/Qwen3-8B", "someone/Unheard-7B-FP8", "Qwen/Qwen3-9B-FP8", "-FP8", ""])
def test_no_format_or_no_base_is_none(name: str) -> None:
    assert build(name) is None


@pytest.mark.parametrize(
    ("name", "attention"),
    [
        ("unsloth/Qwen3.8-27B-NVFP4", "fp8-tensor-static"),
        ("nvidia/Qwen3.8-27B-NVFP4", "fp8-tensor-static"),
        ("someone/Qwen3.8-27B-NVFP4", "nvfp4-g16"),
    ],
)
def test_nvidia_s_tool_keeps_attention_of_hybrids_in_fp8(name: str, attention: str) -> None:
    found = build(name)
    assert found is not None
    assert found.arch.scheme is not None
    prefix = f"{found.arch.prefix}layers.0."
    forms = {
        part: form.name if (form := format_of(found.arch.scheme, prefix + part)) else None
        for part in ("linear_attn.in_proj_qkv", "linear_attn.in_proj_a", "mlp.up_proj")
    }
    assert forms == {"linear_attn.in_proj_qkv": attention, "linear_attn.in_proj_a": None, "mlp.up_proj": "nvfp4-g16"}


@pytest.mark.parametrize(
    ("name", "size"),
    [
        # sizes of the published checkpoints' index files
        ("Inferact/Qwen3.8-2.4T-A95B-NVFP4", 1_447_265_951_488),
        ("Qwen/Qwen3.8-27B-FP8", 30_866_866_928),
        # file sizes on the hub, rounded there: https://github.com/sostrowsk/dgx-spark-local-llm
        ("cyankiwi/gemma-4-26B-A4B-it-qat-AWQ-INT4", 17_200_000_000),
        ("poolside/Laguna-S-2.1-INT4", 71_900_000_000),
    ],
)
def test_sizes_of_published_builds(name: str, size: int) -> None:
    found = build(name)
    assert found is not None
    assert stored_size(gather_parts(found.arch)) == pytest.approx(size, rel=0.002)


def kept(name: str, parts: tuple[str, ...]) -> list[str | None]:
    """Formats of modules of layer 3 in this build."""
    found = build(name)
    assert found is not None
    assert found.arch.scheme is not None
    prefix = f"{found.arch.prefix}layers.3."
    forms = (format_of(found.arch.scheme, prefix + part) for part in parts)
    return [form.name if form else None for form in forms]


def test_cyankiwi_leaves_always_active_modules_in_16_bit() -> None:
    parts = ("mlp.experts.up_proj", "mlp.shared_expert.up_proj", "self_attn.q_proj", "linear_attn.out_proj")
    assert kept("cpatonn/Qwen3-Next-80B-A3B-Instruct-AWQ-4bit", parts) == ["pack-int4-g32", None, None, None]
    parts = ("experts.up_proj", "mlp.up_proj", "self_attn.q_proj")
    assert kept("cyankiwi/gemma-4-26B-A4B-it-AWQ-4bit", parts) == ["pack-int4-g32", None, "pack-int4-g32"]
    # a dense model has nothing else to quantise
    assert kept("cyankiwi/gemma-4-31B-it-AWQ-4bit", ("mlp.up_proj",)) == ["pack-int4-g32"]


def test_llm_compressor_quantises_all_linear_modules_but_linear_attention() -> None:
    parts = ("mlp.experts.up_proj", "self_attn.q_proj", "mlp.shared_expert.up_proj", "linear_attn.out_proj")
    assert kept("RedHatAI/Qwen3.6-35B-A3B-NVFP4", parts) == ["nvfp4-g16", "nvfp4-g16", "nvfp4-g16", None]


@pytest.mark.parametrize(
    ("name", "cache"),
    [
        ("poolside/Laguna-S-2.1-INT4", "fp8"),
        ("poolside/Laguna-S-2.1-NVFP4", "fp8"),
        ("someone/Laguna-S-2.1-INT4", None),
        ("RedHatAI/Qwen3.8-27B-INT4", None),
    ],
)
def test_laguna_states_an_fp8_cache(name: str, cache: str | None) -> None:
    found = build(name)
    assert found is not None
    assert found.arch.kv_dtype == cache
