"""NVIDIA ModelOpt."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.modelopt import layer_rules, read_modelopt
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP, EXPERT = "model.layers.3.mlp.up_proj", "model.layers.3.mlp.experts.up_proj"


def read(**quant: Any) -> Scheme:
    return read_modelopt(Settings(Config(quant), Config({})))


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


@pytest.mark.parametrize(
    ("algo", "expected"),
    [
        ("FP8", "fp8-tensor-static"),
        ("fp8", "fp8-tensor-static"),
        ("FP8_PER_CHANNEL_PER_TOKEN", "fp8-channel"),
        ("FP8_PB_WO", "fp8-block-128x128"),
        ("NVFP4", "nvfp4-g16"),
        ("NVFP4_AWQ", "nvfp4-g16"),
        ("W4A16_NVFP4", "nvfp4-g16-w4a16"),
        ("MXFP8", "mxfp8"),
        ("MXFP4", "mxfp4"),
        ("W4A16_AWQ", "int4-g128"),
        ("INT8_SQ", "int8-channel-static"),
    ],
)
def test_algorithms_in_both_files(algo: str, expected: str) -> None:
    assert name_of(read(quant_algo=algo), UP) == expected
    assert name_of(read(quantization={"quant_algo": algo}), UP) == expected


@pytest.mark.parametrize("size", [8, 16, 32])
def test_group_sizes(size: int) -> None:
    assert name_of(read(quant_algo="NVFP4", group_size=size), UP) == f"nvfp4-g{size}"


def test_lists_have_two_names() -> None:
    for scheme in (
        read(quant_algo="FP8", ignore=["model.layers.3*"]),
        read(quantization={"quant_algo": "FP8", "exclude_modules": ["model.layers.3*"]}),
    ):
        assert name_of(scheme, UP) is None
        assert name_of(scheme, "model.layers.30.mlp.up_proj") == "fp8-tensor-static"


def test_weights_only_when_no_group_has_activations() -> None:
    group = {"weights": {"num_bits": 4}, "input_activations": None}
    assert name_of(read(quant_algo="NVFP4", config_groups={"a": group}), UP) == "nvfp4-g16-w4a16"
    group = {"weights": {"num_bits": 4}, "input_activations": {"num_bits": 4}}
    assert name_of(read(quant_algo="NVFP4", config_groups={"a": group}), UP) == "nvfp4-g16"


MIXED = {
    "model.layers.3.mlp.experts.0.up_proj": {"quant_algo": "NVFP4", "group_size": 16},
    "model.layers.3.mlp.experts.1.up_proj": {"quant_algo": "NVFP4", "group_size": 16},
    "model.layers.3.self_attn.q_proj": {"quant_algo": "FP8"},
    "lm_head": {"quant_algo": "W4A16_NVFP4", "group_size": 16},
    "model.layers.4.mlp.experts": {"quant_algo": "MXFP8"},
}


def test_mixed_precision_quantises_the_listed_layers_only() -> None:
    scheme = read(quant_algo="MIXED_PRECISION", quantized_layers=MIXED, ignore=["mtp*"])
    assert name_of(scheme, EXPERT) == "nvfp4-g16"
    assert name_of(scheme, "model.layers.3.self_attn.q_proj") == "fp8-tensor-static"
    assert name_of(scheme, "lm_head") == "nvfp4-g16-w4a16"
    assert name_of(scheme, "model.layers.4.mlp.experts.gate_up_proj") == "mxfp8"
    assert name_of(scheme, UP) is None
    assert len(scheme.rules) == 6


def test_the_first_expert_speaks_for_its_layer() -> None:
    table = {"l.experts.0.w1": {"quant_algo": "FP8"}, "l.experts.1.w1": {"quant_algo": "NVFP4"}}
    (rule,) = layer_rules(Config({"quantized_layers": table}))
    assert rule.format is not None
    assert rule.format.name == "fp8-tensor-static"


def test_no_table_no_rules() -> None:
    assert layer_rules(Config({})) == ()
    assert layer_rules(Config({"quantized_layers": {"a": None}})) == ()


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        ({"kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"kv_cache_quant_algo": "NVFP4"}, "nvfp4"),
        ({"kv_cache_scheme": {"type": "float", "num_bits": 8, "dynamic": False}}, "fp8"),
        ({"kv_cache_scheme": "FP8"}, "fp8"),
        ({"kv_cache_quant_algo": None}, None),
    ],
)
def test_kv_type(quant: dict[str, Any], expected: str | None) -> None:
    assert read(quant_algo="FP8", **quant).kv_dtype == expected


@pytest.mark.parametrize("algo", ["", "NVFP8", "W2A2", "NO_QUANT"])
def test_unknown_algorithms(algo: str) -> None:
    with pytest.raises(UnknownKeyError, match="quant_algo"):
        read(quant_algo=algo)


@pytest.mark.parametrize(
    "quant",
    [
        {"quant_algo": "MIXED_PRECISION"},
        {"quant_algo": "MIXED_PRECISION", "quantized_layers": {}},
        {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "MIXED_PRECISION"}}},
        {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": 4}},
        {"quant_algo": 8},
        {"quant_algo": "NVFP4", "group_size": "16"},
        {"quantization": 3},
    ],
)
def test_broken_files(quant: dict[str, Any]) -> None:
    with pytest.raises(TonnageError):
        read(**quant)
