"""Methods of the transformers library: bitsandbytes, HQQ, quanto, EETQ, and vLLM's experts_int8."""

from __future__ import annotations

from tonnage.model.quantization.formats import (
    BYTE_BITS,
    FP8_TENSOR,
    INT4_BITS,
    INT8_CHANNEL,
    INT8_CHANNEL_HALF,
    NF4,
    NF4_DOUBLE,
    int_affine,
)
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.method.settings import group_size
from tonnage.model.quantization.rules import list_rules
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format

# HQQ BaseQuantizeConfig's default group; quanto's qint4 group.
HQQ_GROUP, QUANTO_GROUP = 64, 128
QUANTO: dict[str, Format] = {
    "int8": INT8_CHANNEL_HALF,
    "float8": FP8_TENSOR,
    "int4": int_affine(INT4_BITS, QUANTO_GROUP),
    "int2": int_affine(2, QUANTO_GROUP),
}


def read_bitsandbytes(settings: Settings) -> Scheme:
    """Four bits in blocks of 64, or LLM.int8 rows; `llm_int8_skip_modules` stay as they are."""
    quant = settings.quant
    is_8bit = quant.bool("load_in_8bit") or quant.bool("_load_in_8bit")
    kind = quant.str("bnb_4bit_quant_type", default="fp4")
    if kind not in ("nf4", "fp4"):
        raise quant.unknown("bnb_4bit_quant_type", kind, "nf4 or fp4")
    four = NF4_DOUBLE if quant.bool("bnb_4bit_use_double_quant") else NF4
    form = INT8_CHANNEL_HALF if is_8bit else four
    skipped = list_rules(settings.skipped("llm_int8_skip_modules"), None)
    return Scheme("bitsandbytes", (*skipped, *default_rules(form)))


def read_hqq(settings: Settings) -> Scheme:
    """Integers with 16-bit scales and zeros per group."""
    quant = settings.quant
    nested = quant.sub("quant_config") or quant
    weights = nested.sub("weight_quant_params") or nested
    bits = weights.int("nbits", "bits", most=BYTE_BITS)
    form = int_affine(bits, group_size(weights, "group_size", default=HQQ_GROUP))
    return Scheme("hqq", (*list_rules(settings.skipped("skip_modules"), None), *default_rules(form)))


def read_quanto(settings: Settings) -> Scheme:
    """The type named by `weights`."""
    quant = settings.quant
    kind = quant.str("weights", default="int8")
    if kind not in QUANTO:
        raise quant.unknown("weights", kind, f"one of {', '.join(QUANTO)}")
    skipped = list_rules(settings.skipped("modules_to_not_convert"), None)
    return Scheme("quanto", (*skipped, *default_rules(QUANTO[kind])))


def read_eetq(settings: Settings) -> Scheme:
    """Eight-bit rows with one 16-bit scale each."""
    skipped = list_rules(settings.skipped("modules_to_not_convert"), None)
    return Scheme("eetq", (*skipped, *default_rules(INT8_CHANNEL_HALF)))


def read_experts_int8(_settings: Settings) -> Scheme:
    """Routed experts as int8 rows, quantised while loading (vLLM experts_int8.py)."""
    return Scheme("experts_int8", (Rule("", INT8_CHANNEL, ("**.experts",)), Rule("", None)), is_online=True)


def read_w8a8_int8(settings: Settings) -> Scheme:
    """int8 rows with an fp32 scale each (SGLang `w8a8_int8`)."""
    skipped = list_rules(settings.skipped("ignore", "modules_to_not_convert"), None)
    return Scheme("w8a8_int8", (*skipped, *default_rules(INT8_CHANNEL)))
