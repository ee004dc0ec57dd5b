"""What-if precisions."""

from __future__ import annotations

import pytest

from tonnage.errors import UsageError
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.precision import ALIASES, RECIPES, UNQUANTISED, scheme_for
from tonnage.model.quantization.scheme import Scheme

UP = "model.layers.3.mlp.up_proj"
EXPERT = "model.layers.3.mlp.experts.up_proj"
QUERY = "model.layers.3.self_attn.q_proj"


def asked(precision: str, is_moe: bool = False) -> Scheme:
    """The scheme of a precision that has one."""
    scheme = scheme_for(precision, is_moe)
    assert scheme is not None
    return scheme


def name_of(scheme: Scheme, tensor: str) -> str | None:
    """The format's name of one tensor."""
    form = format_of(scheme, tensor)
    return form.name if form else None


@pytest.mark.parametrize("precision", [*UNQUANTISED, "BF16", " fp16 "])
def test_16_bit_needs_no_scheme(precision: str) -> None:
    assert scheme_for(precision) is None


@pytest.mark.parametrize(
    ("precision", "method", "form"),
    [
        ("fp8", "compressed-tensors", "fp8-channel"),
        ("FP8-dynamic", "compressed-tensors", "fp8-channel"),
        ("fp8-block", "fp8", "fp8-block-128x128"),
        ("fp8-tensor", "modelopt", "fp8-tensor-static"),
        ("fp8-kv", "fp8", "fp8-tensor-static"),
        ("int8", "compressed-tensors", "int8-channel"),
        ("w8a8", "compressed-tensors", "int8-channel"),
        ("w8a8-int8", "compressed-tensors", "int8-channel"),
        ("w8a16", "compressed-tensors", "pack-int8-channel"),
        ("int4", "compressed-tensors", "pack-int4-g128"),
        ("w4a16", "compressed-tensors", "pack-int4-g128"),
        ("compressed-tensors-w4a16", "compressed-tensors", "pack-int4-g128"),
        ("awq", "awq", "int4-g128-zero"),
        ("gptq", "gptq", "int4-g128"),
        ("gptq-int4", "gptq", "int4-g128"),
        ("gptq-int8", "gptq", "int8-g128"),
        ("autoround-int4", "auto-round", "int4-g128"),
        ("mxfp4", "mxfp4", "mxfp4"),
        ("mxfp6", "quark", "mxfp6"),
        ("mxfp8", "mxfp8", "mxfp8"),
        ("nvfp4", "modelopt", "nvfp4-g16"),
        ("fp4", "modelopt", "nvfp4-g16"),
        ("bitsandbytes-4bit", "bitsandbytes", "nf4-double"),
        ("bnb-8bit", "bitsandbytes", "int8-channel-half"),
        ("w4a8", "quark", "w4a8-fp8"),
        ("fp32", "fp32", "fp32"),
    ],
)
def test_formats_of_dense_models(precision: str, method: str, form: str) -> None:
    scheme = asked(precision)
    assert scheme.method == method
    assert name_of(scheme, UP) == form
    assert name_of(scheme, QUERY) == form
    assert scheme.source


@pytest.mark.parametrize("precision", sorted(set(RECIPES) - {"fp32"}))
def test_what_stays_in_16_bit(precision: str) -> None:
    for is_moe in (False, True):
        scheme = asked(precision, is_moe)
        for tensor in ("lm_head", "model.embed_tokens", "model.layers.3.mlp.gate", "model.visual.blocks.0.mlp.fc1"):
            assert format_of(scheme, tensor) is None
        assert format_of(scheme, "model.layers.3.linear_attn.in_proj_ba") is None


def test_fp32_takes_everything() -> None:
    assert name_of(asked("fp32"), "lm_head") == "fp32"


@pytest.mark.parametrize(
    ("precision", "expert", "query"),
    [
        ("nvfp4", "nvfp4-g16", None),
        ("mxfp4", "mxfp4", None),
        ("int4-experts", "pack-int4-g32", None),
        ("nvfp4-mxfp8", "nvfp4-g16", "mxfp8"),
        ("fp8", "fp8-channel", "fp8-channel"),
        ("awq", "int4-g128-zero", "int4-g128-zero"),
    ],
)
def test_formats_of_mixtures_of_experts(precision: str, expert: str, query: str | None) -> None:
    scheme = asked(precision, is_moe=True)
    assert name_of(scheme, EXPERT) == expert
    assert name_of(scheme, QUERY) == query


def test_kv_types_of_static_builds() -> None:
    assert asked("fp8-kv").kv_dtype == "fp8"
    assert asked("fp8").kv_dtype is None


def test_every_alias_leads_somewhere() -> None:
    assert set(ALIASES.values()) <= set(RECIPES)
    assert not set(ALIASES) & set(RECIPES)


@pytest.mark.parametrize(
    ("precision", "said"),
    [("exl3", "do not load EXL3"), ("gguf", "GGUF file"), ("fp5", "one of .*awq.*nvfp4"), ("", "one of")],
)
def test_unknown_precisions(precision: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        scheme_for(precision)
