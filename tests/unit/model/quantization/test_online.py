"""Quantisation while loading."""

from __future__ import annotations

import pytest

from tonnage.errors import UsageError
from tonnage.model.quantization.formats import stored_bytes
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.online import EXPERTS_ONLY, LINEAR, online_scheme

UP, EXPERT = "model.layers.0.mlp.up_proj", "model.layers.0.mlp.experts.up_proj"


@pytest.mark.parametrize(
    ("method", "form"),
    [
        ("fp8", "fp8-tensor"),
        ("FP8", "fp8-tensor"),
        ("fp8_per_tensor", "fp8-tensor"),
        ("fp8-per-block", "fp8-block-128x128"),
        ("ptpc_fp8", "fp8-channel"),
        ("mxfp8", "mxfp8"),
        ("mxfp4", "mxfp4"),
        ("w8a8_int8", "int8-channel"),
        ("bitsandbytes", "nf4-double"),
    ],
)
def test_every_linear_module(method: str, form: str) -> None:
    scheme = online_scheme(method)
    assert scheme.is_online
    for tensor in (UP, EXPERT, "model.layers.0.self_attn.qkv_proj"):
        found = format_of(scheme, tensor)
        assert found is not None
        assert found.name == form


def test_fp8_is_one_byte_and_a_scale() -> None:
    form = format_of(online_scheme("fp8"), UP)
    assert form is not None
    # 14336 x 4096 + 4
    assert stored_bytes(form, 14336, 4096) == 58_720_260


@pytest.mark.parametrize("method", sorted(LINEAR))
def test_head_and_router_stay(method: str) -> None:
    for tensor in ("lm_head", "model.embed_tokens", "model.layers.0.mlp.gate", "model.layers.9.eh_proj"):
        assert format_of(online_scheme(method), tensor) is None


def test_towers_are_linear_modules_too() -> None:
    assert format_of(online_scheme("fp8"), "model.visual.blocks.0.mlp.fc1") is not None


@pytest.mark.parametrize("method", sorted(EXPERTS_ONLY))
def test_experts_only(method: str) -> None:
    scheme = online_scheme(method)
    assert format_of(scheme, EXPERT) is not None
    assert format_of(scheme, UP) is None
    assert format_of(scheme, "model.layers.0.mlp.shared_experts.up_proj") is None


@pytest.mark.parametrize("method", ["awq", "gptq", "compressed-tensors", "", "fp7"])
def test_methods_that_need_a_quantised_checkpoint(method: str) -> None:
    with pytest.raises(UsageError, match="16-bit checkpoint"):
        online_scheme(method)
