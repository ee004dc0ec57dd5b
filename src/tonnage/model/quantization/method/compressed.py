"""compressed-tensors: groups of targets, each with its own weights, and a list of what to ignore."""

from __future__ import annotations

from tonnage.model.quantization.formats import (
    BYTE_BITS,
    FP4_BITS,
    FP8_CHANNEL,
    FP8_CHANNEL_STATIC,
    FP8_TENSOR,
    FP8_TENSOR_STATIC,
    INT8_CHANNEL,
    INT8_CHANNEL_STATIC,
    INT8_TENSOR,
    MX_BLOCK,
    MXFP4,
    MXFP8,
    fp8_block,
    int_pack_quantized,
    nvfp4,
)
from tonnage.model.quantization.kept import OUTER, default_rules
from tonnage.model.quantization.method.settings import group_size, kv_dtype, objects
from tonnage.model.quantization.rules import list_rules
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config
    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format

PACKED, DENSE = "pack-quantized", "dense"
LAYOUTS = (
    "float-quantized",
    "naive-quantized",
    "int-quantized",
    PACKED,
    "nvfp4-pack-quantized",
    "mxfp4-pack-quantized",
    "mxfp8-quantized",
    "mixed-precision",
    DENSE,
)
LINEAR_CLASSES = ("Linear", "LinearBase", "ReplicatedLinear")
EXPERT_CLASSES = ("RoutedExperts", "FusedMoE")
OUTER_CLASSES = ("Embedding", "VocabParallelEmbedding", "ParallelLMHead")
INT_BITS_MAX = 8
BLOCK_MAX = 1 << 16


def read_compressed(settings: Settings) -> Scheme:
    """Named targets first, then classes: `Linear` is every linear module (vLLM compressed_tensors/utils.py).

    Groups for attention classes concern the KV cache only and are passed over, as vLLM does.
    """
    quant = settings.quant
    named: list[Rule] = []
    default: Format | None = None
    for _, group in objects(quant.sub("config_groups")):
        targets = group.strs("targets") or ("Linear",)
        if all(target.endswith("Attention") for target in targets):
            continue
        form = _group_format(quant, group)
        named.extend(_target_rules(targets, form))
        default = form if any(target in LINEAR_CLASSES for target in targets) else default
    skipped = list_rules(quant.strs("ignore") or (), None)
    return Scheme(
        "compressed-tensors", (*skipped, *named, *default_rules(default)), kv_dtype(quant.raw("kv_cache_scheme"))
    )


def _target_rules(targets: tuple[str, ...], form: Format | None) -> tuple[Rule, ...]:
    classes = (*LINEAR_CLASSES, *EXPERT_CLASSES, *OUTER_CLASSES)
    rules = list(list_rules((target for target in targets if target not in classes), form))
    if any(target in EXPERT_CLASSES for target in targets):
        rules.append(Rule("", form, ("**.experts",)))
    if any(target in OUTER_CLASSES for target in targets):
        rules.append(Rule("", form, OUTER))
    return tuple(rules)


def _group_format(quant: Config, group: Config) -> Format | None:
    layout = group.opt_str("format") or quant.str("format", default=PACKED)
    if layout not in LAYOUTS:
        raise group.unknown("format", layout, f"one of {', '.join(LAYOUTS)}")
    weights = group.sub("weights")
    if weights is None or layout == DENSE:
        return None
    kind, bits = weights.str("type", default="int"), weights.int("num_bits", most=INT_BITS_MAX)
    inputs = group.sub("input_activations")
    if kind == "float":
        return _float_format(weights, bits, inputs)
    if kind == "int":
        return _int_format(weights, bits, layout, inputs)
    raise weights.unknown("type", kind, "int or float")


def _float_format(weights: Config, bits: int, inputs: Config | None) -> Format:
    strategy, group = _strategy(weights), group_size(weights, "group_size")
    if bits == FP4_BITS and group is not None:
        return MXFP4 if group == MX_BLOCK else nvfp4(group, inputs is not None)
    if bits != BYTE_BITS:
        raise weights.unknown("num_bits", bits, "4 with a group size, or 8, for float weights")
    is_static = inputs is not None and not inputs.raw("dynamic")
    if strategy == "block":
        rows, cols = _block(weights)
        return fp8_block(rows, cols)
    if strategy == "group" and group is not None:
        return MXFP8 if group == MX_BLOCK else fp8_block(1, group)
    if strategy == "channel":
        return FP8_CHANNEL_STATIC if is_static else FP8_CHANNEL
    return FP8_TENSOR_STATIC if is_static else FP8_TENSOR


def _int_format(weights: Config, bits: int, layout: str, inputs: Config | None) -> Format:
    strategy, group = _strategy(weights), group_size(weights, "group_size")
    if layout != PACKED and bits == BYTE_BITS and group is None:
        if strategy == "tensor":
            return INT8_TENSOR
        return INT8_CHANNEL_STATIC if inputs is not None and not inputs.raw("dynamic") else INT8_CHANNEL
    is_indexed = weights.raw("actorder") in ("group", "dynamic", True)
    return int_pack_quantized(bits, group, weights.bool("symmetric", default=True), is_indexed)


def _strategy(weights: Config) -> str:
    """The stated strategy; without one modelopt's and older files mean groups, blocks or the whole tensor."""
    known = ("tensor", "channel", "group", "block", "tensor_group", "token")
    implied = "group" if weights.has("group_size") else "block" if weights.has("block_structure") else "tensor"
    strategy = weights.str("strategy", default=implied)
    if strategy not in known:
        raise weights.unknown("strategy", strategy, f"one of {', '.join(known)}")
    return strategy


def _block(weights: Config) -> tuple[int, int]:
    raw = weights.raw("block_structure")
    if isinstance(raw, str):
        sides = raw.lower().split("x")
        numbers = tuple(int(side) for side in sides if side.isascii() and side.isdecimal() and len(side) <= 8)
    else:
        numbers = weights.ints("block_structure", least=1, most=BLOCK_MAX) or ()
    if len(numbers) != 2 or min(numbers) < 1:
        raise weights.unknown("block_structure", raw, "two numbers, rows and columns of a block")
    return numbers[0], numbers[1]
