"""GPTQ and AWQ."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.gptq import read_awq, read_gptq
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP, QUERY = "model.layers.3.mlp.up_proj", "model.layers.3.self_attn.q_proj"


def gptq(**quant: Any) -> Scheme:
    return read_gptq(Settings(Config({"bits": 4, "group_size": 128, "sym": True, **quant}), Config({})))


def awq(**quant: Any) -> Scheme:
    return read_awq(Settings(Config(quant), Config({})))


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        ({}, "int4-g128"),
        ({"bits": 8}, "int8-g128"),
        ({"bits": 3, "group_size": 64}, "int3-g64"),
        ({"group_size": -1}, "int4-channel"),
        ({"sym": False}, "int4-g128-zero"),
        ({"desc_act": True}, "int4-g128-gidx"),
        ({"desc_act": True, "group_size": -1}, "int4-channel"),
        ({"bits": None, "w_bit": 4}, "int4-g128"),
    ],
)
def test_gptq_formats(quant: dict[str, Any], expected: str) -> None:
    assert name_of(gptq(**quant), UP) == expected


def test_head_only_when_asked_for() -> None:
    assert name_of(gptq(), "lm_head") is None
    assert name_of(gptq(lm_head=True), "lm_head") == "int4-g128"
    assert name_of(awq(lm_head=True), "lm_head") == "int4-g128-zero"


def test_dynamic_overrides() -> None:
    dynamic = {
        "-:.*shared_expert.*": {},
        r"+:.*layers\.3\..*down.*": {"bits": 8, "group_size": 32},
        r".*k_proj": {"sym": False},
    }
    scheme = gptq(dynamic=dynamic)
    assert name_of(scheme, "model.layers.3.mlp.shared_expert.up_proj") is None
    assert name_of(scheme, "model.layers.3.mlp.down_proj") == "int8-g32"
    assert name_of(scheme, "model.layers.4.mlp.down_proj") == "int4-g128"
    assert name_of(scheme, "model.layers.4.self_attn.k_proj") == "int4-g128-zero"


@pytest.mark.parametrize(
    "modules",
    [["self_attn.q_proj", "mlp.down_proj"], [["self_attn.q_proj"], ["mlp.down_proj"]], [("self_attn.q_proj",)]],
)
def test_listed_modules_only(modules: list[Any]) -> None:
    scheme = gptq(modules_in_block_to_quantize=modules)
    assert name_of(scheme, QUERY) == "int4-g128"
    assert name_of(scheme, UP) is None


@pytest.mark.parametrize(
    "quant", [{"bits": 5}, {"bits": None}, {"bits": "4"}, {"group_size": 0}, {"dynamic": {"+:(a+)+": {}}}, {"sym": 1}]
)
def test_bad_gptq(quant: dict[str, Any]) -> None:
    with pytest.raises(TonnageError):
        gptq(**quant)


def test_names_of_modules_must_be_names() -> None:
    with pytest.raises(UnknownKeyError, match="modules_in_block_to_quantize"):
        gptq(modules_in_block_to_quantize=[[7]])


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        ({}, "int4-g128-zero"),
        ({"bits": 4, "group_size": 64, "zero_point": True}, "int4-g64-zero"),
        ({"w_bit": 4, "q_group_size": 32, "zero_point": False}, "int4-g32"),
    ],
)
def test_awq_formats(quant: dict[str, Any], expected: str) -> None:
    assert name_of(awq(**quant), UP) == expected


def test_awq_skips_by_word() -> None:
    scheme = awq(modules_to_not_convert=["visual", "mlp.gate.", "layers.0."])
    assert name_of(scheme, "model.layers.0.mlp.down_proj") is None
    assert name_of(scheme, "model.layers.3.mlp.down_proj") == "int4-g128-zero"
    assert name_of(scheme, "model.layers.3.mlp.experts.gate_proj") == "int4-g128-zero"


@pytest.mark.parametrize("quant", [{"bits": 5}, {"group_size": 0}, {"modules_to_not_convert": "visual"}])
def test_bad_awq(quant: dict[str, Any]) -> None:
    with pytest.raises(TonnageError):
        awq(**quant)
