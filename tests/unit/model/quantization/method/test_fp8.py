"""`fp8` and `fbgemm_fp8`."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnknownKeyError, UnreadableError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.fp8 import read_fbgemm, read_fp8
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP, EXPERT = "model.layers.3.mlp.up_proj", "model.layers.3.mlp.experts.up_proj"


def read(quant: dict[str, Any], **model: Any) -> Scheme:
    return read_fp8(Settings(Config(quant), Config(model)))


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        ({}, "fp8-tensor"),
        ({"activation_scheme": "dynamic"}, "fp8-tensor"),
        ({"activation_scheme": "static"}, "fp8-tensor-static"),
        ({"weight_block_size": [128, 128]}, "fp8-block-128x128"),
        ({"weight_block_size": [1, 128]}, "fp8-block-1x128"),
        ({"weight_block_size": [128, 128], "scale_fmt": "ue8m0"}, "fp8-block-128x128"),
        ({"weight_block_size": [32, 32], "expert_dtype": "fp4"}, "fp8-block-32x32-e8m0"),
    ],
)
def test_weights(quant: dict[str, Any], expected: str) -> None:
    assert name_of(read(quant), UP) == expected


def test_fp4_experts_beside_fp8() -> None:
    for scheme in (
        read({"weight_block_size": [128, 128]}, expert_dtype="fp4"),
        read({"weight_block_size": [128, 128], "expert_dtype": "fp4"}),
    ):
        assert name_of(scheme, EXPERT) == "mxfp4"
        assert name_of(scheme, "layers.3.ffn.experts.w2") == "mxfp4"
        assert name_of(scheme, "model.layers.3.mlp.shared_experts.up_proj") == "fp8-block-128x128-e8m0"


def test_fp8_experts_keep_wide_scales() -> None:
    assert name_of(read({"weight_block_size": [128, 128]}, expert_dtype="fp8"), EXPERT) == "fp8-block-128x128"


def test_stored_as_mxfp4() -> None:
    scheme = read({"weight_block_size": [128, 128], "store_dtype": "mxfp4"})
    assert (name_of(scheme, EXPERT), name_of(scheme, UP)) == ("mxfp4", "fp8-block-128x128")


def test_skipped_modules() -> None:
    scheme = read({"modules_to_not_convert": ["lm_head", "model.layers.3.mlp"], "ignored_layers": []})
    assert name_of(scheme, UP) is None
    assert name_of(scheme, "model.layers.4.mlp.up_proj") == "fp8-tensor"
    # the first list that is not empty counts
    other = read({"modules_to_not_convert": ["model.layers.3.mlp"], "ignored_layers": ["x"]})
    assert name_of(other, UP) == "fp8-tensor"


@pytest.mark.parametrize(("value", "expected"), [("static", "fp8"), (None, None)])
def test_kv_type(value: str | None, expected: str | None) -> None:
    assert read({"kv_cache_scheme": value}).kv_dtype == expected


@pytest.mark.parametrize(
    ("quant", "error"),
    [
        ({"weight_block_size": [128]}, UnknownKeyError),
        ({"weight_block_size": [128, 128, 128]}, UnknownKeyError),
        ({"weight_block_size": [0, 128]}, UnreadableError),
        ({"weight_block_size": "128x128"}, UnreadableError),
        ({"activation_scheme": "sometimes"}, UnknownKeyError),
        ({"expert_dtype": "fp2"}, UnknownKeyError),
        ({"ignored_layers": [7]}, UnreadableError),
        ({"kv_cache_scheme": "fp3"}, UnknownKeyError),
    ],
)
def test_bad_values(quant: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        read(quant)


def test_fbgemm_is_per_channel_with_a_bound() -> None:
    quant = {"modules_to_not_convert": ["model.layers.0.mlp", "lm_head"], "activation_scale_ub": 1200.0}
    scheme = read_fbgemm(Settings(Config(quant), Config({})))
    assert scheme.method == "fbgemm_fp8"
    assert name_of(scheme, UP) == "fp8-channel-static"
    assert name_of(scheme, "model.layers.0.mlp.up_proj") is None
