"""Which accelerators a quantisation method runs on under vLLM."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.value import value


@value
class Support:
    """Least compute capability (x10) of a method on NVIDIA, from which on it is native, and ROCm's acceptance.

    `native_sm` None: the weights are unpacked to 16 bit on every card. `native_gfx` are prefixes of architectures.
    `least_gfx` lists the prefixes that run it at all (empty: whatever ROCm accepts).
    """

    least_sm: int
    native_sm: int | None
    is_on_rocm: bool
    native_gfx: tuple[str, ...] = ()
    least_gfx: tuple[str, ...] = ()


# How architectures are written: sm_90, sm_120a; gfx942, gfx1250.
SM_DIGITS, GFX_DIGITS, HEX_DIGITS = (2, 3), (3, 4), frozenset("0123456789abcdef")
# vLLM platforms/rocm.py: fp8 types from gfx94x; native MX types on gfx95x and gfx1250 only.
FP8_GFX = ("gfx94", "gfx95", "gfx12")
MX_GFX = ("gfx95", "gfx1250")
INT8_GFX = ("gfx9", "gfx11", "gfx12")

# vLLM get_min_capability of each method (0.32, 0.33) and platforms/rocm.py supported_quantization.
# Formats of compressed-tensors and quark stand under their own names because each scheme has its own floor.
SUPPORT: dict[str, Support] = {
    "fp32": Support(0, 0, True, ("gfx",)),  # no quantisation: 32-bit floats run everywhere
    "gptq": Support(60, None, True),
    "auto-round": Support(60, None, True),
    "inc": Support(60, None, True),
    "compressed-tensors": Support(70, None, True),
    "w4a16": Support(75, None, True),
    "moe_wna16": Support(70, None, False),
    "quark": Support(70, None, True),
    "bitsandbytes": Support(70, None, False),
    "awq": Support(75, None, True),
    "fp8": Support(75, 89, True, FP8_GFX, FP8_GFX),
    "deepseek_v4_fp8": Support(75, 89, True, FP8_GFX, FP8_GFX),
    "w8a8-fp8": Support(89, 89, True, FP8_GFX, FP8_GFX),
    "w8a16-fp8": Support(75, None, True, (), FP8_GFX),
    "w8a8-int8": Support(75, 75, True, INT8_GFX),
    "int8": Support(75, 75, True, INT8_GFX),
    "fbgemm_fp8": Support(80, 89, True, FP8_GFX, FP8_GFX),
    "modelopt": Support(80, 89, True, FP8_GFX, FP8_GFX),
    "modelopt_fp4": Support(75, 100, True),
    "modelopt_mixed": Support(75, 100, True),
    "modelopt_mxfp8": Support(75, 100, True, MX_GFX),
    "nvfp4": Support(75, 100, True),
    "mxfp4": Support(80, 100, True, MX_GFX),
    "mxfp8": Support(75, 100, True, MX_GFX),
    "torchao": Support(75, None, True),
    "gguf": Support(60, None, True),
    "humming": Support(75, None, False),
    "experts_int8": Support(80, None, False),
    "w4a8-fp8": Support(90, 90, False),
    "fp_quant": Support(100, 100, False),
    "hqq": Support(80, None, False),
}


def is_supported(method: str, target: str) -> str | None:
    """None when vLLM runs `method` on `target` (`sm_80`, `gfx942`), otherwise the reason in one sentence.

    Unknown methods and targets are a UsageError.
    """
    support, capability = _support(method), _capability(target)
    if capability is not None:
        if capability >= support.least_sm:
            return None
        return f"{method} needs compute capability {_dotted(support.least_sm)}; this card has {_dotted(capability)}"
    if not support.is_on_rocm:
        return f"{method} quantization is currently not supported in rocm"
    if support.least_gfx and not target.startswith(support.least_gfx):
        return f"{target} has no FP8 arithmetic; {method} needs {', '.join(f'{g}x' for g in support.least_gfx)}"
    return None


def is_native(method: str, target: str) -> bool:
    """Whether `target` computes in the method's own type rather than unpacking its weights to 16 bit."""
    support, capability = _support(method), _capability(target)
    if capability is not None:
        return support.native_sm is not None and capability >= support.native_sm
    return target.startswith(support.native_gfx) if support.native_gfx else False


def _support(method: str) -> Support:
    if method not in SUPPORT:
        raise UsageError("quantization method", method, f"one of {', '.join(sorted(SUPPORT))}")
    return SUPPORT[method]


def _capability(target: str) -> int | None:
    """Compute capability times ten of an NVIDIA target, None for an AMD one."""
    digits = target.removeprefix("sm").removeprefix("_")
    digits = digits[:-1] if digits.endswith(("a", "f")) else digits
    if target.startswith("sm") and digits.isascii() and digits.isdecimal() and len(digits) in SM_DIGITS:
        return int(digits)
    code = target.removeprefix("gfx")
    if target.startswith("gfx") and len(code) in GFX_DIGITS and set(code) <= HEX_DIGITS:
        return None
    raise UsageError("target", target, "an architecture such as sm_90 or gfx942")


def _dotted(capability: int) -> str:
    return f"{str(capability)[:-1]}.{str(capability)[-1]}"
