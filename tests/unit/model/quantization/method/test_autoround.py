"""Intel AutoRound."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.autoround import read_autoround
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP = "model.layers.3.mlp.up_proj"


def read(**quant: Any) -> Scheme:
    return read_autoround(Settings(Config({"bits": 4, "group_size": 128, "sym": True, **quant}), Config({})))


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        ({}, "int4-g128"),
        ({"sym": False}, "int4-g128-zero"),
        ({"bits": 2, "group_size": 32}, "int2-g32"),
        ({"bits": 8, "group_size": -1}, "int8-channel"),
        ({"data_type": "mx_fp", "group_size": 32}, "mxfp4"),
        ({"data_type": "mx_fp8", "bits": 8, "group_size": 32}, "mxfp8"),
        ({"data_type": "nv_fp", "group_size": 16}, "nvfp4-g16"),
        ({"data_type": "fp", "bits": 8, "group_size": [128, 128]}, "fp8-block-128x128"),
        ({"data_type": "fp8", "bits": 8, "group_size": -1}, "fp8-channel"),
        ({"bits": 16}, None),
    ],
)
def test_formats(quant: dict[str, Any], expected: str | None) -> None:
    assert name_of(read(**quant), UP) == expected


def test_exceptions_by_name_and_expression() -> None:
    extra = {
        "model.layers.3.mlp.shared_expert_gate": {"bits": 16},
        "linear_attn.in_proj_ba": {"bits": 16, "data_type": "float"},
        r".*\.mtp\..*|.*visual.*": {"bits": 16},
        "lm_head": {"bits": 8, "group_size": 64},
    }
    scheme = read(extra_config=extra)
    assert name_of(scheme, UP) == "int4-g128"
    assert name_of(scheme, "model.layers.0.linear_attn.in_proj_a") is None
    assert name_of(scheme, "model.visual.blocks.0.attn.qkv") is None
    assert name_of(scheme, "lm_head") == "int8-g64"


@pytest.mark.parametrize("blocks", ["model.layers", ["model.layers"], "model.layers, model.other"])
def test_named_blocks_only(blocks: Any) -> None:
    scheme = read(block_name_to_quantize=blocks)
    assert name_of(scheme, UP) == "int4-g128"
    assert name_of(scheme, "mtp.layers.0.mlp.up_proj") is None
    assert name_of(scheme, "model.layers.3.mlp.gate") is None


def test_skipped_modules() -> None:
    assert name_of(read(modules_to_not_convert=["model.layers.3"]), UP) is None


@pytest.mark.parametrize(
    "quant", [{"data_type": "complex"}, {"bits": 9}, {"data_type": "fp", "bits": 8, "group_size": [1, 2, 3]}]
)
def test_unknown_formats(quant: dict[str, Any]) -> None:
    with pytest.raises(UnknownKeyError):
        read(**quant)


@pytest.mark.parametrize(
    "quant", [{"bits": None}, {"bits": "4"}, {"extra_config": [1]}, {"extra_config": {"(a+)+": {"bits": 16}}}]
)
def test_broken_files(quant: dict[str, Any]) -> None:
    with pytest.raises(TonnageError):
        read(**quant)
