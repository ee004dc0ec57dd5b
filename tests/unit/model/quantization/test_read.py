"""Configurations of published checkpoints, and files that are broken or hostile."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.errors import TonnageError, UnknownKeyError, UnreadableError
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.read import READERS, read_scheme
from tonnage.model.quantization.scheme import Scheme

LAYER = "model.layers."


def load(shared: Path, name: str) -> Scheme:
    """The scheme of one published configuration with its separate file, if it has one."""
    models = shared / "models"
    separate = models / f"{name}.hf_quant_config.json"
    found = read_scheme(
        json.loads((models / f"{name}.json").read_text()),
        json.loads(separate.read_text()) if separate.is_file() else None,
    )
    assert found is not None
    return found


def name_of(scheme: Scheme, tensor: str) -> str | None:
    """The format's name of one tensor."""
    form = format_of(scheme, tensor)
    return form.name if form else None


def test_every_quantised_checkpoint_has_a_scheme(shared: Path) -> None:
    found = []
    for path in sorted((shared / "models").glob("*.json")):
        config = json.loads(path.read_text())
        text = config.get("text_config") or {}
        separate = path.with_suffix(".hf_quant_config.json")
        if "quantization_config" in config or "quantization_config" in text or separate.is_file():
            name = path.name.removesuffix(".json").removesuffix(".hf_quant_config")
            found.append(load(shared, name).method)
    assert len(found) > 60
    assert {"fp8", "modelopt", "compressed-tensors", "mxfp4"} <= set(found)


def test_unquantised_checkpoints_have_none(shared: Path) -> None:
    assert read_scheme(json.loads((shared / "models" / "Qwen__Qwen3-8B.json").read_text())) is None


# Each a checkpoint, one of its tensors and that tensor's format.
PUBLISHED = [
    ("Qwen__Qwen3-32B-FP8", f"{LAYER}0.mlp.up_proj", "fp8-block-128x128"),
    ("Qwen__Qwen3-32B-FP8", "lm_head", None),
    ("Qwen__Qwen3-235B-A22B-FP8", f"{LAYER}93.mlp.gate", None),
    ("Qwen__Qwen3-235B-A22B-FP8", f"{LAYER}93.mlp.experts.up_proj", "fp8-block-128x128"),
    ("Qwen__Qwen3.8-2.4T-A95B-FP8", f"{LAYER}3.self_attn.q_proj", None),
    ("Qwen__Qwen3.8-2.4T-A95B-FP8", f"{LAYER}0.linear_attn.in_proj_qkv", None),
    ("Qwen__Qwen3.8-2.4T-A95B-FP8", f"{LAYER}0.mlp.shared_expert.up_proj", None),
    ("Qwen__Qwen3.8-2.4T-A95B-FP8", f"{LAYER}0.mlp.experts.up_proj", "fp8-block-128x128"),
    ("MiniMaxAI__MiniMax-M2.7", f"{LAYER}9.block_sparse_moe.gate", None),
    ("MiniMaxAI__MiniMax-M2.7", f"{LAYER}9.block_sparse_moe.experts.w1", "fp8-block-128x128"),
    ("amd__Llama-3.1-8B-Instruct-FP8-KV", f"{LAYER}0.mlp.up_proj", "fp8-tensor-static"),
    ("amd__dbrx-instruct-FP8-KV", "transformer.blocks.0.ffn.router.layer", None),
    ("amd__grok-1-FP8-KV", f"{LAYER}0.moe.gate", None),
    ("deepseek-ai__DeepSeek-V3", f"{LAYER}0.self_attn.kv_b_proj", "fp8-block-128x128"),
    # ue8m0 limits the values of V3.1's scales; they stay four bytes wide
    ("deepseek-ai__DeepSeek-V3.1", f"{LAYER}0.self_attn.kv_b_proj", "fp8-block-128x128"),
    ("deepseek-ai__DeepSeek-V3.2", f"{LAYER}0.self_attn.indexer.weights_proj", None),
    ("deepseek-ai__DeepSeek-V4-Pro", "layers.0.ffn.experts.w1", "mxfp4"),
    ("deepseek-ai__DeepSeek-V4-Pro", "layers.0.attn.wq_a", "fp8-block-128x128-e8m0"),
    ("deepseek-ai__DeepSeek-V4.1-Flash", "layers.0.ffn.shared_experts.w1", "fp8-block-32x32-e8m0"),
    ("sgl-project__DeepSeek-V4-Flash-FP8", "layers.0.ffn.experts.w1", "fp8-block-128x128"),
    ("nvidia__DeepSeek-V4-Flash-NVFP4", "layers.42.ffn.experts.w1", "nvfp4-g16"),
    ("nvidia__DeepSeek-V4-Flash-NVFP4", "layers.43.ffn.experts.w1", "mxfp4"),
    ("nvidia__DeepSeek-V4-Flash-NVFP4", "layers.0.attn.wq_a", "fp8-block-128x128-e8m0"),
    ("moonshotai__Kimi-K2.5", "language_model.model.layers.1.mlp.experts.up_proj", "pack-int4-g32"),
    ("moonshotai__Kimi-K2.5", "language_model.model.layers.0.mlp.up_proj", None),
    ("moonshotai__Kimi-K3", "language_model.model.layers.1.mlp.experts.up_proj", "mxfp4"),
    ("moonshotai__Kimi-K3", "language_model.model.layers.1.self_attn.q_proj", None),
    ("moonshotai__Kimi-K3", "language_model.model.layers.1.mlp.shared_experts.up_proj", None),
    ("nvidia__DeepSeek-V3-0324-NVFP4", f"{LAYER}21.self_attn.q_a_proj", None),
    ("nvidia__DeepSeek-V3-0324-NVFP4", f"{LAYER}61.mlp.experts.up_proj", None),
    ("nvidia__DeepSeek-V3-0324-NVFP4", f"{LAYER}60.mlp.experts.up_proj", "nvfp4-g16"),
    ("nvidia__DeepSeek-V3.1-NVFP4", f"{LAYER}5.self_attn.o_proj", "nvfp4-g16"),
    ("nvidia__GLM-5.1-NVFP4", f"{LAYER}2.mlp.up_proj", None),
    ("nvidia__GLM-5.1-NVFP4", f"{LAYER}20.mlp.experts.up_proj", "nvfp4-g16"),
    ("nvidia__GLM-5.1-NVFP4", f"{LAYER}20.mlp.shared_experts.up_proj", None),
    ("nvidia__Gemma-4-26B-A4B-NVFP4", "model.language_model.layers.5.mlp.up_proj", None),
    ("nvidia__Gemma-4-26B-A4B-NVFP4", "model.language_model.layers.5.experts.gate_up_proj", "nvfp4-g16"),
    ("nvidia__MiniMax-M3-NVFP4", "language_model.model.layers.9.self_attn.q_proj", "mxfp8"),
    ("nvidia__MiniMax-M3-NVFP4", "language_model.model.layers.9.block_sparse_moe.experts.w3", "nvfp4-g16"),
    ("nvidia__MiniMax-M3-NVFP4", "model.embed_tokens", None),
    ("nvidia__NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4", "lm_head", "nvfp4-g16-w4a16"),
    ("nvidia__NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4", "backbone.layers.0.mixer.in_proj", "fp8-tensor-static"),
    (
        "nvidia__NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4",
        "backbone.layers.1.mixer.experts.up_proj",
        "nvfp4-g16-w4a16",
    ),
    ("nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", "backbone.layers.5.mixer.q_proj", None),
    ("nvidia__Qwen3.6-27B-NVFP4", "model.language_model.layers.0.linear_attn.in_proj_a", None),
    ("nvidia__Qwen3.6-27B-NVFP4", "model.language_model.layers.0.linear_attn.in_proj_z", "fp8-tensor-static"),
    ("nvidia__Qwen3.6-35B-A3B-NVFP4", "model.language_model.layers.0.mlp.experts.gate_up_proj", "nvfp4-g16-w4a16"),
    ("nvidia__Qwen3.5-397B-A17B-NVFP4", "model.language_model.layers.3.mlp.shared_expert.up_proj", None),
    ("openai__gpt-oss-120b", f"{LAYER}5.mlp.experts.gate_up_proj", "mxfp4"),
    ("openai__gpt-oss-120b", f"{LAYER}5.self_attn.q_proj", None),
    ("poolside__Laguna-S-2.1-FP8", f"{LAYER}5.mlp.experts.up_proj", "fp8-block-128x128"),
    ("poolside__Laguna-S-2.1-FP8", f"{LAYER}5.mlp.shared_expert.up_proj", None),
    ("poolside__Laguna-S-2.1-FP8", f"{LAYER}5.self_attn.g_proj", None),
    ("zai-org__GLM-5.3-FP8", f"{LAYER}78.eh_proj", None),
    ("zai-org__GLM-5.3-FP8", f"{LAYER}77.mlp.experts.up_proj", "fp8-block-128x128"),
]


@pytest.mark.parametrize(("checkpoint", "tensor", "expected"), PUBLISHED)
def test_published_formats(shared: Path, checkpoint: str, tensor: str, expected: str | None) -> None:
    assert name_of(load(shared, checkpoint), tensor) == expected


@pytest.mark.parametrize(
    ("checkpoint", "expected"),
    [
        ("Qwen__Qwen3-32B-FP8", None),
        ("Qwen__Qwen3-32B-FP8-Static-PerTensor", "fp8"),
        ("amd__Llama-3.1-8B-Instruct-FP8-KV", "fp8"),
        ("nvidia__Llama-3.1-70B-Instruct-FP8", "fp8"),
        ("nvidia__DeepSeek-V3-0324-NVFP4", None),
        ("nvidia__GLM-5.1-NVFP4", "fp8"),
        ("poolside__Laguna-S-2.1-FP8", "fp8"),
    ],
)
def test_kv_types(shared: Path, checkpoint: str, expected: str | None) -> None:
    assert load(shared, checkpoint).kv_dtype == expected


@pytest.mark.parametrize(
    ("checkpoint", "most"),
    [("Qwen__Qwen3.8-2.4T-A95B-FP8", 3), ("nvidia__MiniMax-M3-NVFP4", 4), ("zai-org__GLM-5-FP8", 3)],
)
def test_long_lists_become_few_rules(shared: Path, checkpoint: str, most: int) -> None:
    scheme = load(shared, checkpoint)
    assert len(scheme.rules) <= most
    assert sum(len(rule.names) for rule in scheme.rules) < 100


FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


@pytest.mark.parametrize(
    "config",
    [
        {"quantization_config": FP8},
        {"compression_config": FP8},
        {"text_config": {"quantization_config": FP8}},
        {"thinker_config": {"text_config": {"quantization_config": FP8}}},
        {"quantization_config": {}, "text_config": {"quantization_config": FP8}},
        {"quantization_config": None, "compression_config": FP8},
        {"quantization_config": {**FP8, "quant_method": "FP8"}},
    ],
)
def test_settings_are_found_where_they_stand(config: dict[str, Any]) -> None:
    scheme = read_scheme(config)
    assert scheme is not None
    assert name_of(scheme, f"{LAYER}0.mlp.up_proj") == "fp8-block-128x128"


@pytest.mark.parametrize("config", [{}, {"quantization_config": None}, {"quantization_config": {}}])
def test_nothing_said_is_none(config: dict[str, Any]) -> None:
    assert read_scheme(config) is None
    assert read_scheme(config, {}) is None


def test_the_separate_file_speaks_when_the_configuration_does_not() -> None:
    separate = {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    scheme = read_scheme({}, separate)
    assert scheme is not None
    assert (scheme.method, scheme.kv_dtype) == ("modelopt", "fp8")
    both = read_scheme({"quantization_config": FP8}, separate)
    assert both is not None
    assert (both.method, both.kv_dtype) == ("fp8", None)


@pytest.mark.parametrize(
    ("settings_", "method"),
    [
        ({"quant_algo": "FP8"}, "modelopt"),
        ({"load_in_4bit": True}, "bitsandbytes"),
        ({"config_groups": {}}, "compressed-tensors"),
        ({"global_quant_config": {}}, "quark"),
    ],
)
def test_methods_that_files_do_not_name(settings_: dict[str, Any], method: str) -> None:
    scheme = read_scheme({"quantization_config": settings_})
    assert scheme is not None
    assert scheme.method == method


@pytest.mark.parametrize("method", ["exl3", "gguf", "aqlm", "vptq", "higgs", "fp9", "..fp8"])
def test_unknown_methods_are_named(method: str) -> None:
    with pytest.raises(UnknownKeyError, match=method.replace(".", r"\.")):
        read_scheme({"quantization_config": {"quant_method": method}})


def test_no_method_at_all() -> None:
    with pytest.raises(UnknownKeyError, match="absent"):
        read_scheme({"quantization_config": {"bits": 4}})


@pytest.mark.parametrize("value", [7, "fp8", [], ["fp8"], True])
def test_settings_of_the_wrong_kind(value: object) -> None:
    with pytest.raises(UnreadableError):
        read_scheme({"quantization_config": value})


def test_hostile_patterns_are_refused_at_once() -> None:
    started = time.perf_counter()
    with pytest.raises(UnreadableError):
        read_scheme({"quantization_config": {"quant_method": "compressed-tensors", "ignore": [r"re:(\w+)+$"]}})
    assert time.perf_counter() - started < 0.5


def attempt(config: dict[str, Any], separate: dict[str, Any] | None = None) -> Scheme | TonnageError | None:
    """The scheme, or the error that is ours; any other error fails the test."""
    try:
        return read_scheme(config, separate)
    except TonnageError as error:
        return error


@pytest.mark.parametrize("method", sorted(READERS))
def test_every_reader_can_be_loaded(method: str) -> None:
    found = attempt({"quantization_config": {"quant_method": method}})
    assert isinstance(found, (Scheme, UnreadableError))


KEYS = ["bits", "group_size", "sym", "desc_act", "zero_point", "lm_head", "modules_to_not_convert", "ignored_layers"]
KEYS += ["ignore", "weight_block_size", "activation_scheme", "config_groups", "targets", "weights", "num_bits", "type"]
KEYS += ["strategy", "format", "symmetric", "block_structure", "actorder", "quant_algo", "quantized_layers", "exclude"]
KEYS += ["exclude_modules", "kv_cache_scheme", "kv_cache_quant_algo", "global_quant_config", "weight", "dtype"]
KEYS += ["qscheme", "layer_quant_config", "export", "kv_cache_group", "dynamic", "extra_config", "data_type", "default"]
KEYS += ["quant_type", "_type", "_data", "expert_dtype", "quantization", "block_size", "input_activations", "nbits"]
KEYS += ["modules_in_block_to_quantize", "weight_quant_params", "load_in_8bit", "forward_dtype", "input_tensors"]
KEYS += ["block_name_to_quantize", "output_tensors"]
WORDS = ["int", "float", "fp8", "fp4", "int4", "mx_fp", "group", "block", "channel", "FP8", "NVFP4", "MIXED_PRECISION"]
WORDS += ["Linear", "pack-quantized", "float-quantized", "re:.*x", "re:(a+)+", "*.y", "lm_head", "static", "per_block"]
WORDS += ["Int4WeightOnlyConfig", "layers.0.mlp", "", "-:.*", "fp8_e4m3", "{", "[", "re:["]
leaves = st.none() | st.booleans() | st.integers(-2, 300) | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, *WORDS]), inner, max_size=5),
    max_leaves=25,
)
junk = st.dictionaries(st.sampled_from(KEYS), values, max_size=8)


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(sorted(READERS)), junk, st.sampled_from(["quantization_config", "compression_config"]))
def test_junk_ends_in_an_error_of_ours_or_a_scheme(method: str, settings_: dict[str, Any], key: str) -> None:
    found = attempt({key: {"quant_method": method, **settings_}})
    if isinstance(found, TonnageError):
        assert found.line
    elif found is not None:
        for tensor in ("lm_head", f"{LAYER}0.mlp.experts.gate_up_proj", f"{LAYER}10.self_attn.q_proj"):
            format_of(found, tensor)


@settings(max_examples=200, deadline=None)
@given(values, values)
def test_junk_anywhere(config: object, separate: object) -> None:
    found = attempt({"quantization_config": config}, separate if isinstance(separate, dict) else None)
    assert found is None or isinstance(found, Scheme) or found.line
