"""`mxfp4`, `mxfp8` and `fp_quant`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.microscaling import read_fp_quant, read_mxfp4, read_mxfp8
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP, EXPERT = "model.layers.3.mlp.up_proj", "model.layers.3.mlp.experts.gate_up_proj"


def read(reader: Callable[[Settings], Scheme], **quant: Any) -> Scheme:
    return reader(Settings(Config(quant), Config({})))


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


def test_gpt_oss_quantises_experts_only() -> None:
    kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    scheme = read(read_mxfp4, modules_to_not_convert=kept)
    assert name_of(scheme, EXPERT) == "mxfp4"
    assert name_of(scheme, "model.layers.3.mlp.experts.down_proj") == "mxfp4"
    for tensor in ("model.layers.3.self_attn.q_proj", "model.layers.3.mlp.router", "lm_head", UP):
        assert name_of(scheme, tensor) is None


def test_experts_can_be_left_out() -> None:
    scheme = read(read_mxfp4, modules_to_not_convert=["model.layers.3.mlp.experts"])
    assert name_of(scheme, EXPERT) is None
    assert name_of(scheme, "model.layers.4.mlp.experts.gate_up_proj") == "mxfp4"


@pytest.mark.parametrize("key", ["ignored_layers", "modules_to_not_convert", "exclude_modules", "ignore"])
def test_mxfp8_takes_every_linear_module(key: str) -> None:
    scheme = read(read_mxfp8, **{key: ["model.layers.0.mlp"]})
    assert name_of(scheme, UP) == "mxfp8"
    assert name_of(scheme, EXPERT) == "mxfp8"
    assert name_of(scheme, "model.layers.0.mlp.up_proj") is None
    assert name_of(scheme, "lm_head") is None


@pytest.mark.parametrize(("kind", "expected"), [("mxfp4", "mxfp4"), ("nvfp4", "nvfp4-g16"), (None, "mxfp4")])
def test_fp_quant(kind: str | None, expected: str) -> None:
    assert name_of(read(read_fp_quant, forward_dtype=kind, modules_to_not_convert=["x"]), UP) == expected


def test_unknown_fp_quant() -> None:
    with pytest.raises(UnknownKeyError, match="mxfp4 or nvfp4"):
        read(read_fp_quant, forward_dtype="fp3")
