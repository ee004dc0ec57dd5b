"""torchao."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.method.torchao import TYPES, read_torchao
from tonnage.model.quantization.scheme import Scheme

UP = "model.layers.3.mlp.up_proj"


def read(**quant: Any) -> Scheme:
    return read_torchao(Settings(Config(quant), Config({})))


def typed(name: str, **data: Any) -> dict[str, Any]:
    return {"_type": name, "_version": 1, "_data": data}


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (typed("Int4WeightOnlyConfig", group_size=32), "int4-affine-g32"),
        (typed("Int4WeightOnlyConfig"), "int4-affine-g128"),
        (typed("Int8DynamicActivationInt4WeightConfig"), "int4-affine-g32"),
        (typed("Int8WeightOnlyConfig"), "int8-channel-half"),
        (typed("Float8WeightOnlyConfig"), "fp8-tensor"),
        (
            typed("Float8DynamicActivationFloat8WeightConfig", granularity=[{"_type": "PerRow"}, {"_type": "PerRow"}]),
            "fp8-channel",
        ),
        (typed("MXFPInferenceConfig", weight_dtype="torch.float4_e2m1fn_x2"), "mxfp4"),
        (typed("MXFPInferenceConfig", weight_dtype="torch.float8_e4m3fn"), "mxfp8"),
        (typed("NVFP4InferenceConfig"), "nvfp4-g16"),
    ],
)
def test_typed_configurations(entry: dict[str, Any], expected: str) -> None:
    assert name_of(read(quant_type={"default": entry}), UP) == expected


def test_older_names() -> None:
    assert name_of(read(quant_type="int4_weight_only", quant_type_kwargs={"group_size": 64}), UP) == "int4-affine-g64"
    assert name_of(read(quant_type="int8_weight_only"), UP) == "int8-channel-half"


def test_a_table_of_modules() -> None:
    table = {
        "_default": typed("Int4WeightOnlyConfig", group_size=128),
        "model.layers.3.mlp": typed("Int8WeightOnlyConfig"),
        "model.layers.4.mlp": None,
    }
    scheme = read(
        quant_type={"default": typed("ModuleFqnToConfig", module_fqn_to_config=table)},
        modules_to_not_convert=["model.layers.5.mlp"],
    )
    assert name_of(scheme, UP) == "int8-channel-half"
    assert name_of(scheme, "model.layers.9.mlp.up_proj") == "int4-affine-g128"
    assert name_of(scheme, "model.layers.5.mlp.up_proj") is None


def test_a_table_without_a_default() -> None:
    table = {"lm_head": typed("Int8WeightOnlyConfig")}
    scheme = read(quant_type={"default": typed("FqnToConfig", fqn_to_config=table)})
    assert name_of(scheme, "lm_head") == "int8-channel-half"
    assert name_of(scheme, UP) is None


def test_every_type_has_a_format() -> None:
    for name in TYPES:
        assert name_of(read(quant_type={"default": typed(name)}), UP) is not None


@pytest.mark.parametrize("kind", ["uint7_weight_only", "", None, {"other": {}}, {"default": typed("Int5Config")}])
def test_unknown_types(kind: Any) -> None:
    with pytest.raises(UnknownKeyError):
        read(quant_type=kind)


@pytest.mark.parametrize("kind", [7, [], {"default": 7}, {"default": {"_type": "Int4WeightOnlyConfig", "_data": 7}}])
def test_broken_types(kind: Any) -> None:
    with pytest.raises(TonnageError):
        read(quant_type=kind)
