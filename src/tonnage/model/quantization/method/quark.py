"""AMD Quark: a global configuration, exceptions per layer, a list of what to leave out."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from tonnage.model.config.keys import Config
from tonnage.model.quantization.formats import (
    FP8_CHANNEL,
    FP8_CHANNEL_STATIC,
    FP8_TENSOR,
    FP8_TENSOR_STATIC,
    INT4_BITS,
    INT8_CHANNEL,
    INT8_CHANNEL_STATIC,
    INT8_TENSOR,
    MX_BLOCK,
    MXFP4,
    MXFP6,
    MXFP8,
    NVFP4,
    W4A8_FP8,
    fp8_block,
    int_packed,
)
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.method.settings import kv_dtype, objects
from tonnage.model.quantization.rules import list_rules
from tonnage.model.quantization.scheme import Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format, Rule

BLOCK_MAX = 1 << 16
FP8_TYPES = ("fp8_e4m3", "fp8_e5m2")
FP6_TYPES = ("fp6_e2m3", "fp6_e3m2")


def read_quark(settings: Settings) -> Scheme:
    """Exclusions first, then layer configurations, then the global one (vLLM quark.py)."""
    quant = settings.quant
    layers = dict(objects(quant.sub("layer_quant_config")))
    rules: list[Rule] = list(list_rules(quant.strs("exclude") or (), None))
    for key, layer in layers.items():
        if layer.has("weight"):
            rules.extend(list_rules((key,), _weight_format(layer)))
    default = quant.sub("global_quant_config")
    rules.extend(default_rules(_weight_format(default) if default else None))
    return Scheme("quark", tuple(rules), _kv(quant, layers))


def _kv(quant: Config, layers: Mapping[str, Config]) -> str | None:
    """The KV type: the output type of the layers that `export.kv_cache_group` names."""
    export = quant.sub("export")
    group = (export.strs("kv_cache_group") if export else None) or ()
    for key, layer in layers.items():
        outputs = layer.sub("output_tensors")
        if outputs is not None and any(fnmatchcase(key, pattern) for pattern in group):
            return kv_dtype(outputs.str("dtype"))
    whole = quant.sub("kv_cache_quant_config")
    return "fp8" if group and whole and whole.values else None


def _weight_format(config: Config) -> Format | None:
    """Storage of a layer's weight; two stacked specifications are int4 under fp8, or NVFP4."""
    raw = config.raw("weight")
    if raw is None:
        return None
    if isinstance(raw, list):
        return _stacked(config, tuple(Config({"weight": spec}, config.path).sub("weight") for spec in raw))
    weight = config.sub("weight")
    if weight is None:
        return None
    inputs = config.raw("input_tensors")
    is_static = isinstance(inputs, Mapping) and not inputs.get("is_dynamic")
    return _format(weight, is_static)


def _stacked(config: Config, specs: tuple[Config | None, ...]) -> Format:
    types = [spec.str("dtype") for spec in specs if spec is not None]
    if types[:2] == ["fp8_e4m3", "int4"]:
        return W4A8_FP8
    if types[:1] == ["fp4"]:
        return NVFP4
    raise config.unknown("weight", types, "one specification, int4 under fp8, or fp4 with a second scale")


def _format(weight: Config, is_static: bool) -> Format:
    kind = weight.str("dtype").lower()
    if kind == "mx":
        kind = weight.str("mx_element_dtype").lower()
    readers: dict[str, Callable[[Config, bool], Format]] = {
        **dict.fromkeys(FP8_TYPES, _fp8),
        **dict.fromkeys(FP6_TYPES, _fp6),
        "int8": _int8,
        "uint8": _int8,
        "int4": _int4,
        "uint4": _int4,
        "fp4": _fp4,
    }
    if kind not in readers:
        raise weight.unknown("dtype", kind or "absent", f"one of {', '.join(readers)}")
    return readers[kind](weight, is_static)


def _fp8(weight: Config, is_static: bool) -> Format:
    scheme = weight.str("qscheme", default="per_tensor")
    if scheme == "per_block":
        block = weight.ints("block_size", least=1, most=BLOCK_MAX) or ()
        if len(block) != 2:
            raise weight.unknown("block_size", block, "two numbers, rows and columns of a block")
        # vLLM ocp_mx_utils.py: blocks 32 wide are MXFP8 with E8M0 scales
        return fp8_block(block[0], block[1], 1) if block[1] == MX_BLOCK else fp8_block(*block)
    if scheme == "per_group":
        group = weight.int("group_size", most=BLOCK_MAX)
        return MXFP8 if group == MX_BLOCK else fp8_block(1, group)
    if scheme == "per_channel":
        return FP8_CHANNEL_STATIC if is_static else FP8_CHANNEL
    return FP8_TENSOR_STATIC if is_static else FP8_TENSOR


def _int8(weight: Config, is_static: bool) -> Format:
    if weight.str("qscheme", default="per_channel") == "per_tensor":
        return INT8_TENSOR
    return INT8_CHANNEL_STATIC if is_static else INT8_CHANNEL


def _fp6(_weight: Config, _is_static: bool) -> Format:
    return MXFP6


def _int4(weight: Config, _is_static: bool) -> Format:
    group = weight.opt_int("group_size", most=BLOCK_MAX)
    return int_packed(INT4_BITS, group, not weight.bool("symmetric", default=True))


def _fp4(weight: Config, _is_static: bool) -> Format:
    group = weight.opt_int("group_size", "block_size", most=BLOCK_MAX)
    return NVFP4 if group == NVFP4.tile_cols else MXFP4
