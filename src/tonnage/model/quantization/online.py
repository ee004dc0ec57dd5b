"""Schemes an engine applies itself while it loads a 16-bit checkpoint (`--quantization fp8`)."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.model.quantization.formats import (
    FP8_BLOCK_128,
    FP8_CHANNEL,
    FP8_TENSOR,
    INT8_CHANNEL,
    MXFP4,
    MXFP8,
    NF4_DOUBLE,
    NVFP4,
)
from tonnage.model.quantization.kept import BUILT_PLAIN, OUTER
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.quantization.scheme import Format

# vLLM config/quantization.py _ONLINE_SHORTHANDS; plain `fp8` is per tensor (fp8.py up to 0.31, `fp8_per_tensor` since).
LINEAR: dict[str, Format] = {
    "fp8": FP8_TENSOR,
    "fp8_per_tensor": FP8_TENSOR,
    "fp8_per_block": FP8_BLOCK_128,
    "fp8_per_channel": FP8_CHANNEL,
    "ptpc_fp8": FP8_CHANNEL,
    "w8a8_fp8": FP8_CHANNEL,
    "w8a8_int8": INT8_CHANNEL,
    "mxfp8": MXFP8,
    "mxfp4": MXFP4,
    "bitsandbytes": NF4_DOUBLE,
}
# Methods that touch the routed experts only.
EXPERTS_ONLY: dict[str, Format] = {
    "experts_int8": INT8_CHANNEL,
    "int8_per_channel_weight_only": INT8_CHANNEL,
    "nvfp4_per_token": NVFP4,
}


def online_scheme(method: str) -> Scheme:
    """The scheme of `--quantization method` on a 16-bit checkpoint.

    Embeddings, head and routers stay as they are; towers are quantised too, because the engine treats their linear
    modules like any other. A method that needs a quantised checkpoint is a UsageError.
    """
    name = method.lower().replace("-", "_")
    if name in EXPERTS_ONLY:
        rules = (Rule("", EXPERTS_ONLY[name], ("**.experts",)), Rule("", None))
    elif name in LINEAR:
        rules = (Rule("", None, (*OUTER, *BUILT_PLAIN)), Rule("", LINEAR[name]))
    else:
        known = ", ".join(sorted({*LINEAR, *EXPERTS_ONLY}))
        raise UsageError("--quantization on a 16-bit checkpoint", method, f"one of {known}")
    return Scheme(name, rules, is_online=True, source="vLLM config/quantization.py")
