"""AMD Quark."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.quark import read_quark
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP = "model.layers.3.mlp.up_proj"


def read(**quant: Any) -> Scheme:
    return read_quark(Settings(Config(quant), Config({})))


def whole(weight: Any, inputs: Any = None, **quant: Any) -> Scheme:
    return read(global_quant_config={"weight": weight, "input_tensors": inputs}, **quant)


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


FP8 = {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}


@pytest.mark.parametrize(
    ("weight", "inputs", "expected"),
    [
        (FP8, {"is_dynamic": False}, "fp8-tensor-static"),
        (FP8, {"is_dynamic": True}, "fp8-tensor"),
        (FP8, None, "fp8-tensor"),
        ({"dtype": "fp8_e4m3", "qscheme": "per_channel"}, {"is_dynamic": True}, "fp8-channel"),
        ({"dtype": "fp8_e4m3", "qscheme": "per_channel"}, {"is_dynamic": False}, "fp8-channel-static"),
        ({"dtype": "fp8_e4m3", "qscheme": "per_block", "block_size": [128, 128]}, None, "fp8-block-128x128"),
        ({"dtype": "fp8_e4m3", "qscheme": "per_block", "block_size": [32, 32]}, None, "fp8-block-32x32-e8m0"),
        ({"dtype": "fp8_e4m3", "qscheme": "per_group", "group_size": 32}, None, "mxfp8"),
        ({"dtype": "fp8_e4m3", "qscheme": "per_group", "group_size": 128}, None, "fp8-block-1x128"),
        ({"dtype": "int8", "qscheme": "per_channel"}, {"is_dynamic": True}, "int8-channel"),
        ({"dtype": "int8", "qscheme": "per_tensor"}, {"is_dynamic": False}, "int8-tensor"),
        ({"dtype": "uint4", "qscheme": "per_group", "group_size": 128, "symmetric": False}, None, "int4-g128-zero"),
        ({"dtype": "int4", "qscheme": "per_channel", "symmetric": True}, None, "int4-channel"),
        ({"dtype": "fp4", "qscheme": "per_group", "group_size": 32}, {"is_dynamic": True}, "mxfp4"),
        ({"dtype": "fp4", "qscheme": "per_group", "group_size": 16}, None, "nvfp4-g16"),
        ({"dtype": "fp6_e2m3", "qscheme": "per_group", "group_size": 32}, None, "mxfp6"),
        ({"dtype": "mx", "mx_element_dtype": "fp6_e3m2"}, None, "mxfp6"),
        ([{"dtype": "fp8_e4m3"}, {"dtype": "int4"}], None, "w4a8-fp8"),
        ([{"dtype": "fp4"}, {"dtype": "fp8_e4m3"}], None, "nvfp4-g16"),
        (None, None, None),
    ],
)
def test_weights(weight: Any, inputs: Any, expected: str | None) -> None:
    assert name_of(whole(weight, inputs), UP) == expected


def test_layers_and_exclusions_before_the_global_one() -> None:
    scheme = whole(
        {"dtype": "fp4", "qscheme": "per_group", "group_size": 32},
        layer_quant_config={"*self_attn*": {"weight": FP8}, "*k_proj": {"output_tensors": FP8}},
        exclude=["lm_head", "model.layers.61.*", "re:.*shared_experts.*"],
    )
    assert name_of(scheme, UP) == "mxfp4"
    assert name_of(scheme, "model.layers.3.self_attn.k_proj") == "fp8-tensor"
    assert name_of(scheme, "model.layers.61.mlp.up_proj") is None
    assert name_of(scheme, "model.layers.3.mlp.shared_experts.up_proj") is None


def test_excluded_children_keep_all_experts() -> None:
    # the form in which GLM's MXFP4 build leaves out its draft layer
    scheme = whole(
        {"dtype": "fp4", "group_size": 32},
        exclude=["model.layers.78.mlp.experts.*.down_proj", "model.layers.78.mlp.experts.*.up_proj"],
    )
    assert name_of(scheme, "model.layers.78.mlp.experts.up_proj") is None
    assert name_of(scheme, "model.layers.77.mlp.experts.up_proj") == "mxfp4"


def test_kv_type_stands_with_the_layers() -> None:
    layers = {"*k_proj": {"output_tensors": {"dtype": "fp8_e4m3"}}}
    assert whole(FP8, layer_quant_config=layers, export={"kv_cache_group": ["*k_proj", "*v_proj"]}).kv_dtype == "fp8"
    assert whole(FP8, layer_quant_config=layers).kv_dtype is None
    assert whole(FP8, export={"kv_cache_group": []}).kv_dtype is None
    with_whole = whole(FP8, export={"kv_cache_group": ["*kv*"]}, kv_cache_quant_config={"*k_proj": {}})
    assert with_whole.kv_dtype == "fp8"


def test_without_a_global_configuration_nothing_is_quantised() -> None:
    assert name_of(read(), UP) is None


@pytest.mark.parametrize(
    "weight",
    [
        {"dtype": "int3"},
        {},
        {"dtype": "fp8_e4m3", "qscheme": "per_block"},
        {"dtype": "fp8_e4m3", "qscheme": "per_block", "block_size": [128]},
        [{"dtype": "int8"}, {"dtype": "int8"}],
        [],
        [None],
    ],
)
def test_unknown_weights(weight: Any) -> None:
    with pytest.raises(UnknownKeyError):
        whole(weight)


@pytest.mark.parametrize("weight", [7, "fp8", [7], {"dtype": 8}, {"dtype": "fp8_e4m3", "qscheme": "per_group"}])
def test_broken_weights(weight: Any) -> None:
    with pytest.raises(TonnageError):
        whole(weight)
