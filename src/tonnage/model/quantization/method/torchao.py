"""torchao: a typed configuration under `quant_type`, or the older names of it."""

from __future__ import annotations

from tonnage.model.config.keys import Config
from tonnage.model.quantization.formats import (
    FP8_CHANNEL,
    FP8_TENSOR,
    INT4_BITS,
    INT4_GROUP,
    INT8_CHANNEL_HALF,
    MX_BLOCK,
    MXFP4,
    MXFP8,
    NVFP4,
    int_affine,
)
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.method.settings import group_size, objects
from tonnage.model.quantization.rules import list_rules
from tonnage.model.quantization.scheme import Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format, Rule

# torchao.quantization configuration classes with the function names that preceded them.
INT4_TYPES = ("Int4WeightOnlyConfig", "int4_weight_only", "Float8DynamicActivationInt4WeightConfig")
INT4_G32_TYPES = ("Int8DynamicActivationInt4WeightConfig", "int8_dynamic_activation_int4_weight")
INT8_TYPES = (
    "Int8WeightOnlyConfig",
    "int8_weight_only",
    "Int8DynamicActivationInt8WeightConfig",
    "int8_dynamic_activation_int8_weight",
)
FP8_TYPES = (
    "Float8WeightOnlyConfig",
    "float8_weight_only",
    "Float8DynamicActivationFloat8WeightConfig",
    "float8_dynamic_activation_float8_weight",
    "Float8StaticActivationFloat8WeightConfig",
)
MX_TYPES = ("MXFPInferenceConfig", "MXDynamicActivationMXWeightConfig")
NVFP4_TYPES = ("NVFP4InferenceConfig", "NVFP4DynamicActivationNVFP4WeightConfig")
TYPES = (*INT4_TYPES, *INT4_G32_TYPES, *INT8_TYPES, *FP8_TYPES, *MX_TYPES, *NVFP4_TYPES)
TABLE_TYPES = ("ModuleFqnToConfig", "FqnToConfig")


def read_torchao(settings: Settings) -> Scheme:
    """The default type for every linear module, modules of a table first (vLLM torchao.py)."""
    quant = settings.quant
    skipped = list_rules(settings.skipped("modules_to_not_convert"), None)
    raw = quant.raw("quant_type")
    if isinstance(raw, str):
        kwargs = quant.sub("quant_type_kwargs") or Config({}, quant.path)
        return Scheme("torchao", (*skipped, *default_rules(_format(raw, kwargs))))
    holder = quant.sub("quant_type")
    typed = holder.sub("default") if holder else None
    if typed is None:
        raise quant.unknown("quant_type", raw, "a name or an object with a default")
    return Scheme("torchao", (*skipped, *_typed_rules(typed)))


def _typed_rules(typed: Config) -> Iterator[Rule]:
    table = (typed.sub("_data") or Config({})).sub("module_fqn_to_config", "fqn_to_config")
    if typed.str("_type") not in TABLE_TYPES or table is None:
        yield from default_rules(_typed_format(typed))
        return
    default = None
    for key, entry in objects(table):
        form = _typed_format(entry)
        if key == "_default":
            default = form
        else:
            yield from list_rules((key,), form)
    yield from default_rules(default)


def _typed_format(typed: Config) -> Format:
    return _format(typed.str("_type"), typed.sub("_data") or Config({}, typed.path))


def _format(name: str, data: Config) -> Format:
    if name in INT4_TYPES:
        return int_affine(INT4_BITS, group_size(data, "group_size", default=INT4_GROUP))
    if name in INT4_G32_TYPES:
        return int_affine(INT4_BITS, group_size(data, "group_size", default=MX_BLOCK))
    if name in INT8_TYPES:
        return INT8_CHANNEL_HALF
    if name in FP8_TYPES:
        return FP8_CHANNEL if "PerRow" in str(data.raw("granularity")) else FP8_TENSOR
    if name in MX_TYPES:
        return MXFP4 if "float4" in str(data.raw("weight_dtype")) else MXFP8
    if name in NVFP4_TYPES:
        return NVFP4
    raise data.unknown("quant_type", name or "absent", f"one of {', '.join(TYPES)}")
