"""Formats read from safetensors headers."""

from __future__ import annotations

import pytest

from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.safetensors.scheme import header_scheme
from tonnage.model.quantization.formats import stored_bytes
from tonnage.model.quantization.match import format_of

SIZES = {"BF16": 2, "F16": 2, "F32": 4, "F8_E4M3": 1, "F8_E8M0": 1, "U8": 1, "I8": 1, "I32": 4}


def entry(name: str, dtype: str, *shape: int) -> TensorEntry:
    """A stored tensor of this type and shape."""
    size = SIZES[dtype]
    for axis in shape:
        size *= axis
    return TensorEntry(name, dtype, shape, size)


UP = "model.layers.0.mlp.up_proj"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        # one fp32 scale per 128 x 128 tile: 512 x 1024 values + 4 x 8 x 4
        ([entry(f"{UP}.weight", "F8_E4M3", 512, 1024), entry(f"{UP}.weight_scale_inv", "F32", 4, 8)], 524_288 + 128),
        # per output channel
        ([entry(f"{UP}.weight", "F8_E4M3", 512, 1024), entry(f"{UP}.weight_scale", "F32", 512, 1)], 524_288 + 2_048),
        # per tensor
        ([entry(f"{UP}.weight", "F8_E4M3", 512, 1024), entry(f"{UP}.weight_scale", "F32", 1)], 524_288 + 4),
        ([entry(f"{UP}.weight", "F8_E4M3", 512, 1024)], 524_288),
        # ragged tiles: 576 rows in 5 tiles are 128 wide
        ([entry(f"{UP}.weight", "F8_E4M3", 576, 1024), entry(f"{UP}.weight_scale_inv", "F32", 5, 8)], 589_824 + 160),
        # NVFP4: two values a byte, an fp8 scale per 16
        ([entry(f"{UP}.weight", "U8", 512, 512), entry(f"{UP}.weight_scale", "F8_E4M3", 512, 64)], 262_144 + 32_768),
        # int8 rows
        ([entry(f"{UP}.weight", "I8", 512, 1024), entry(f"{UP}.weight_scale", "BF16", 512, 1)], 524_288 + 1_024),
    ],
)
def test_bytes_of_a_matrix(entries: list[TensorEntry], expected: int) -> None:
    found = format_of(header_scheme(entries), UP)
    assert found is not None
    rows = entries[0].shape[0]
    assert stored_bytes(found, rows, 1024) == expected


def test_floats_keep_the_models_own_type() -> None:
    scheme = header_scheme([entry(f"{UP}.weight", "BF16", 512, 1024), entry("model.norm.weight", "F32", 1024)])
    assert format_of(scheme, UP) is None
    assert format_of(scheme, "model.norm") is None


def test_layers_and_experts_are_told_apart_by_their_formats() -> None:
    entries = [
        entry(f"model.layers.{layer}.mlp.experts.{expert}.up_proj.weight", "F8_E4M3", 512, 1024)
        for layer in (1, 2)
        for expert in range(4)
    ]
    scheme = header_scheme([*entries, entry("model.layers.0.mlp.up_proj.weight", "BF16", 512, 1024)])
    assert format_of(scheme, "model.layers.2.mlp.experts.up_proj") is not None
    assert format_of(scheme, "model.layers.3.mlp.experts.up_proj") is None
    assert format_of(scheme, UP) is None


def test_no_headers_no_rules() -> None:
    assert [rule.format for rule in header_scheme([]).rules] == [None]
