"""compressed-tensors."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError, UnknownKeyError
from tonnage.model.config.keys import Config
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.method.compressed import read_compressed
from tonnage.model.quantization.method.settings import Settings
from tonnage.model.quantization.scheme import Scheme

UP, EXPERT = "model.layers.3.mlp.up_proj", "model.layers.3.mlp.experts.up_proj"
STATIC, DYNAMIC = {"num_bits": 8, "dynamic": False}, {"num_bits": 8, "dynamic": True}


def read(**quant: Any) -> Scheme:
    return read_compressed(Settings(Config(quant), Config({})))


def one(weights: dict[str, Any] | None, layout: str = "float-quantized", inputs: Any = None, **more: Any) -> Scheme:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs, **more}
    return read(format=layout, config_groups={"group_0": group}, ignore=["lm_head"])


def name_of(scheme: Scheme, tensor: str) -> str | None:
    form = format_of(scheme, tensor)
    return form.name if form else None


def weights(bits: int, kind: str, strategy: str, **more: Any) -> dict[str, Any]:
    return {"num_bits": bits, "type": kind, "strategy": strategy, "symmetric": True, **more}


@pytest.mark.parametrize(
    ("weight", "layout", "inputs", "expected"),
    [
        (weights(8, "float", "channel"), "float-quantized", DYNAMIC, "fp8-channel"),
        (weights(8, "float", "channel"), "float-quantized", STATIC, "fp8-channel-static"),
        (weights(8, "float", "channel"), "naive-quantized", None, "fp8-channel"),
        (weights(8, "float", "tensor"), "float-quantized", STATIC, "fp8-tensor-static"),
        (weights(8, "float", "tensor"), "float-quantized", DYNAMIC, "fp8-tensor"),
        (weights(8, "float", "block", block_structure=[128, 128]), "float-quantized", DYNAMIC, "fp8-block-128x128"),
        (weights(8, "float", "block", block_structure="128x64"), "float-quantized", DYNAMIC, "fp8-block-128x64"),
        (weights(8, "float", "group", group_size=32), "mxfp8-quantized", DYNAMIC, "mxfp8"),
        (weights(8, "float", "group", group_size=128), "float-quantized", DYNAMIC, "fp8-block-1x128"),
        (weights(8, "int", "channel"), "int-quantized", DYNAMIC, "int8-channel"),
        (weights(8, "int", "channel"), "int-quantized", STATIC, "int8-channel-static"),
        (weights(8, "int", "tensor"), "int-quantized", DYNAMIC, "int8-tensor"),
        (weights(8, "int", "channel"), "pack-quantized", None, "pack-int8-channel"),
        (weights(4, "int", "group", group_size=128), "pack-quantized", None, "pack-int4-g128"),
        (weights(4, "int", "group", group_size=32), "pack-quantized", None, "pack-int4-g32"),
        (weights(4, "int", "channel"), "pack-quantized", DYNAMIC, "pack-int4-channel"),
        (weights(4, "int", "group", group_size=128, symmetric=False), "pack-quantized", None, "pack-int4-g128-zero"),
        (weights(4, "int", "group", group_size=128, actorder="group"), "pack-quantized", None, "pack-int4-g128-gidx"),
        (weights(4, "int", "group", group_size=128, actorder="static"), "pack-quantized", None, "pack-int4-g128"),
        (weights(4, "float", "tensor_group", group_size=16), "nvfp4-pack-quantized", DYNAMIC, "nvfp4-g16"),
        (weights(4, "float", "tensor_group", group_size=16), "nvfp4-pack-quantized", None, "nvfp4-g16-w4a16"),
        (weights(4, "float", "group", group_size=32), "mxfp4-pack-quantized", None, "mxfp4"),
        ({"num_bits": 8, "type": "float"}, "float-quantized", STATIC, "fp8-tensor-static"),
        ({"num_bits": 4, "type": "int", "group_size": 64}, "pack-quantized", None, "pack-int4-g64"),
        (None, "pack-quantized", None, None),
        (weights(8, "float", "tensor"), "dense", None, None),
    ],
)
def test_groups(weight: dict[str, Any] | None, layout: str, inputs: Any, expected: str | None) -> None:
    scheme = one(weight, layout, inputs)
    assert name_of(scheme, UP) == expected
    assert name_of(scheme, "lm_head") is None


def test_a_group_may_have_its_own_layout() -> None:
    scheme = one(weights(4, "float", "group", group_size=32), "mixed-precision", format="mxfp4-pack-quantized")
    assert name_of(scheme, UP) == "mxfp4"


def test_named_targets_come_before_classes() -> None:
    scheme = read(
        format="mixed-precision",
        config_groups={
            "a": {"targets": ["Linear"], "weights": weights(4, "int", "group", group_size=128)},
            "b": {"targets": [r"re:.*self_attn.*", "model.layers.0.mlp"], "weights": weights(8, "int", "channel")},
        },
    )
    assert name_of(scheme, UP) == "pack-int4-g128"
    assert name_of(scheme, "model.layers.3.self_attn.q_proj") == "int8-channel"
    assert name_of(scheme, "model.layers.0.mlp.up_proj") == "int8-channel"


def test_without_the_linear_class_only_named_targets_are_quantised() -> None:
    scheme = read(config_groups={"a": {"targets": [r"re:.*experts.*"], "weights": weights(8, "float", "channel")}})
    assert name_of(scheme, EXPERT) == "fp8-channel"
    assert name_of(scheme, UP) is None


def test_classes_of_experts_and_heads() -> None:
    groups = {
        "a": {"targets": ["FusedMoE"], "weights": weights(8, "float", "channel")},
        "b": {"targets": ["ParallelLMHead"], "weights": weights(8, "int", "channel")},
    }
    scheme = read(format="float-quantized", config_groups=groups)
    assert name_of(scheme, EXPERT) == "fp8-channel"
    assert name_of(scheme, "lm_head") == "int8-channel"
    assert name_of(scheme, UP) is None


def test_attention_groups_concern_the_cache_only() -> None:
    scheme = read(
        config_groups={
            "a": {"targets": ["LlamaAttention"], "weights": weights(8, "float", "tensor")},
            "b": {"weights": weights(8, "float", "tensor")},
        }
    )
    assert name_of(scheme, UP) == "fp8-tensor"


@pytest.mark.parametrize(
    ("kv", "expected"),
    [({"type": "float", "num_bits": 8}, "fp8"), ({"type": "int", "num_bits": 8}, "int8"), (None, None)],
)
def test_kv_type(kv: dict[str, Any] | None, expected: str | None) -> None:
    assert read(config_groups={}, kv_cache_scheme=kv).kv_dtype == expected


@pytest.mark.parametrize(
    ("weight", "layout"),
    [
        (weights(8, "complex", "tensor"), "float-quantized"),
        (weights(6, "float", "tensor"), "float-quantized"),
        (weights(4, "float", "tensor"), "float-quantized"),
        (weights(8, "float", "spiral"), "float-quantized"),
        (weights(8, "float", "block"), "float-quantized"),
        (weights(8, "float", "block", block_structure="128"), "float-quantized"),
        (weights(8, "float", "block", block_structure="0x1"), "float-quantized"),
        (weights(4, "int", "group", group_size=0), "pack-quantized"),
        (weights(4, "int", "group", group_size=128), "marlin-24"),
    ],
)
def test_what_is_not_known_is_refused(weight: dict[str, Any], layout: str) -> None:
    with pytest.raises(UnknownKeyError):
        one(weight, layout)


@pytest.mark.parametrize("groups", [[], {"a": 7}, {"a": {"targets": "Linear"}}, {"a": {"weights": {"type": "int"}}}])
def test_broken_groups(groups: Any) -> None:
    with pytest.raises(TonnageError):
        read(config_groups=groups)
