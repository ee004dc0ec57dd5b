"""`fp8` (fine-grained or per tensor), with the experts DeepSeek V4 stores in four bits, and `fbgemm_fp8`."""

from __future__ import annotations

from tonnage.model.quantization.formats import (
    FP8_CHANNEL_STATIC,
    FP8_TENSOR,
    FP8_TENSOR_STATIC,
    FP32_BYTES,
    MXFP4,
    fp8_block,
)
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.method.modelopt import layer_rules
from tonnage.model.quantization.method.settings import kv_dtype
from tonnage.model.quantization.rules import list_rules
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format

BLOCK_MAX = 1 << 16
EXPERTS = ("**.mlp.experts", "**.experts")


def read_fp8(settings: Settings) -> Scheme:
    """fp8 per `weight_block_size` tile, or per tensor without it (static activations add an input scale).

    vLLM fp8.py and deepseek_v4/quant_config.py: `expert_dtype: fp4` makes the routed experts MXFP4 and the scales of
    everything else single E8M0 bytes. `scale_fmt: ue8m0` alone only limits the values of fp32 scales.
    """
    quant = settings.quant
    expert_dtype = quant.opt_str("expert_dtype") or settings.model.opt_str("expert_dtype") or "fp8"
    if expert_dtype not in ("fp4", "fp8"):
        raise quant.unknown("expert_dtype", expert_dtype, "fp4 or fp8")
    has_fp4 = expert_dtype == "fp4" or quant.opt_str("store_dtype") == "mxfp4"
    form = _weight(settings, 1 if expert_dtype == "fp4" else FP32_BYTES)
    skipped = list_rules(settings.skipped("ignored_layers", "modules_to_not_convert"), None)
    experts = (Rule("", MXFP4, EXPERTS),) if has_fp4 else ()
    rules = (*skipped, *layer_rules(quant), *experts, *default_rules(form))
    return Scheme("fp8", rules, kv_dtype(quant.raw("kv_cache_scheme", "kv_cache_quant_algo")))


def _weight(settings: Settings, scale_bytes: int) -> Format:
    block = settings.quant.ints("weight_block_size", least=1, most=BLOCK_MAX)
    if block is not None and len(block) != 2:
        raise settings.quant.unknown("weight_block_size", block, "two numbers, rows and columns of a tile")
    scheme = settings.quant.str("activation_scheme", default="dynamic")
    if scheme not in ("static", "dynamic"):
        raise settings.quant.unknown("activation_scheme", scheme, "static or dynamic")
    if block:
        return fp8_block(block[0], block[1], scale_bytes)
    return FP8_TENSOR_STATIC if scheme == "static" else FP8_TENSOR


def read_fbgemm(settings: Settings) -> Scheme:
    """fp8 with one fp32 scale per output channel and one upper bound of the activations (vLLM fbgemm_fp8.py)."""
    return Scheme("fbgemm_fp8", kept_and_default(settings.skipped("modules_to_not_convert"), FP8_CHANNEL_STATIC))


def kept_and_default(skipped: Iterable[str], form: Format) -> tuple[Rule, ...]:
    """Rules of a method that quantises everything but a list."""
    return (*list_rules(skipped, None), *default_rules(form))
