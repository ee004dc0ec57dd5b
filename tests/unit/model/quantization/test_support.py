"""Which card runs which method."""

from __future__ import annotations

import pytest

from tonnage.errors import UsageError
from tonnage.model.quantization.support import SUPPORT, is_native, is_supported


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("gptq", "sm_60"),
        ("awq", "sm_75"),
        ("fp8", "sm_75"),
        ("fp8", "sm_80"),
        ("w8a8-fp8", "sm_89"),
        ("w4a8-fp8", "sm_90"),
        ("mxfp4", "sm_80"),
        ("nvfp4", "sm_75"),
        ("fp_quant", "sm_100"),
        ("compressed-tensors", "sm_70"),
        ("fp8", "gfx942"),
        ("fp8", "gfx950"),
        ("fp8", "gfx1201"),
        ("mxfp4", "gfx942"),
        ("quark", "gfx950"),
        ("awq", "gfx90a"),
        ("gptq", "gfx1100"),
        ("modelopt_fp4", "gfx942"),
    ],
)
def test_runs(method: str, target: str) -> None:
    assert is_supported(method, target) is None


@pytest.mark.parametrize(
    ("method", "target", "reason"),
    [
        ("awq", "sm_70", "awq needs compute capability 7.5; this card has 7.0"),
        ("w8a8-fp8", "sm_86", "w8a8-fp8 needs compute capability 8.9; this card has 8.6"),
        ("fp_quant", "sm_90a", "fp_quant needs compute capability 10.0; this card has 9.0"),
        ("w4a8-fp8", "sm89", "w4a8-fp8 needs compute capability 9.0; this card has 8.9"),
        ("bitsandbytes", "gfx942", "bitsandbytes quantization is currently not supported in rocm"),
        ("experts_int8", "gfx950", "experts_int8 quantization is currently not supported in rocm"),
        ("fp8", "gfx90a", "gfx90a has no FP8 arithmetic; fp8 needs gfx94x, gfx95x, gfx12x"),
        ("fp8", "gfx1100", "gfx1100 has no FP8 arithmetic; fp8 needs gfx94x, gfx95x, gfx12x"),
    ],
)
def test_does_not_run(method: str, target: str, reason: str) -> None:
    assert is_supported(method, target) == reason


@pytest.mark.parametrize(
    ("method", "target", "expected"),
    [
        ("fp8", "sm_80", False),
        ("fp8", "sm_89", True),
        ("nvfp4", "sm_90", False),
        ("nvfp4", "sm_100", True),
        ("nvfp4", "sm_120", True),
        ("mxfp4", "gfx942", False),
        ("mxfp4", "gfx950", True),
        ("fp8", "gfx942", True),
        ("nvfp4", "gfx950", False),
        ("gptq", "sm_100", False),
        ("w8a8-int8", "sm_75", True),
    ],
)
def test_native_arithmetic(method: str, target: str, expected: bool) -> None:
    assert is_native(method, target) == expected


@pytest.mark.parametrize("target", ["", "sm", "sm_9", "H100", "gfx", "cpu", "gfx9400000"])
def test_unknown_targets(target: str) -> None:
    with pytest.raises(UsageError, match="sm_90 or gfx942"):
        is_supported("fp8", target)


def test_unknown_methods() -> None:
    with pytest.raises(UsageError, match="exl3"):
        is_supported("exl3", "sm_90")
    with pytest.raises(UsageError, match="exl3"):
        is_native("exl3", "sm_90")


def test_native_never_comes_before_least() -> None:
    for support in SUPPORT.values():
        assert support.native_sm is None or support.native_sm >= support.least_sm
        assert support.is_on_rocm or not (support.native_gfx or support.least_gfx)
