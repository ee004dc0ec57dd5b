"""bitsandbytes, HQQ, quanto, EETQ, experts_int8 and w8a8_int8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method import transformers
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP, EXPERT = "model.layers.3.mlp.up_proj", "model.layers.3.mlp.experts.up_proj"


def read(reader: Callable[[Settings], Scheme], **quant: Any) -> Scheme:
    return reader(Settings(Config(quant), Config({})))


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        ({"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True}, "nf4-double"),
        ({"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, "nf4"),
        ({"load_in_4bit": True}, "nf4"),
        ({"load_in_8bit": True}, "int8-channel-half"),
        ({"_load_in_8bit": True}, "int8-channel-half"),
    ],
)
def test_bitsandbytes(quant: dict[str, Any], expected: str) -> None:
    assert name_of(read(transformers.read_bitsandbytes, **quant), UP) == expected


def test_bitsandbytes_skips() -> None:
    scheme = read(transformers.read_bitsandbytes, llm_int8_skip_modules=["lm_head", "model.layers.3.mlp"])
    assert name_of(scheme, UP) is None
    assert name_of(scheme, "model.layers.4.mlp.up_proj") == "nf4"


def test_bitsandbytes_of_an_unknown_type() -> None:
    with pytest.raises(UnknownKeyError, match="nf4 or fp4"):
        read(transformers.read_bitsandbytes, bnb_4bit_quant_type="nf5")


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        ({"quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}}, "int4-affine-g64"),
        ({"quant_config": {"nbits": 8, "group_size": -1}}, "int8-affine-channel"),
        ({"nbits": 2}, "int2-affine-g64"),
    ],
)
def test_hqq(quant: dict[str, Any], expected: str) -> None:
    assert name_of(read(transformers.read_hqq, **quant, skip_modules=["lm_head"]), UP) == expected


@pytest.mark.parametrize("quant", [{}, {"nbits": 9}, {"nbits": 4, "group_size": 0}, {"quant_config": 4}])
def test_broken_hqq(quant: dict[str, Any]) -> None:
    with pytest.raises(TonnageError):
        read(transformers.read_hqq, **quant)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("int8", "int8-channel-half"),
        ("int4", "int4-affine-g128"),
        ("int2", "int2-affine-g128"),
        ("float8", "fp8-tensor"),
    ],
)
def test_quanto(kind: str, expected: str) -> None:
    assert name_of(read(transformers.read_quanto, weights=kind), UP) == expected


def test_unknown_quanto() -> None:
    with pytest.raises(UnknownKeyError, match="int7"):
        read(transformers.read_quanto, weights="int7")


def test_eetq() -> None:
    assert name_of(read(transformers.read_eetq, modules_to_not_convert=["x"]), UP) == "int8-channel-half"


def test_experts_int8_works_while_loading() -> None:
    scheme = read(transformers.read_experts_int8)
    assert scheme.is_online
    assert name_of(scheme, EXPERT) == "int8-channel"
    assert name_of(scheme, UP) is None


def test_w8a8_int8() -> None:
    scheme = read(transformers.read_w8a8_int8, ignore=["model.layers.0.mlp"])
    assert name_of(scheme, UP) == "int8-channel"
    assert name_of(scheme, "model.layers.0.mlp.up_proj") is None
