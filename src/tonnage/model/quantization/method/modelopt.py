"""NVIDIA ModelOpt: one algorithm for all layers, or a table of layers (`MIXED_PRECISION`)."""

from __future__ import annotations

from tonnage.model.quantization.formats import (
    BYTE_BITS,
    FP8_BLOCK,
    FP8_CHANNEL,
    FP8_TENSOR_STATIC,
    INT4_BITS,
    INT4_GROUP,
    INT8_CHANNEL_STATIC,
    MXFP4,
    MXFP8,
    NVFP4_BLOCK,
    fp8_block,
    int_packed,
    nvfp4,
)
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.method.settings import group_size, kv_dtype, objects
from tonnage.model.quantization.rules import list_rules
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.model.config.keys import Config
    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format

MIXED = "MIXED_PRECISION"
# vLLM modelopt.py LINEAR_ALGOS, and modelopt's own names for what TensorRT-LLM also reads.
PLAIN_ALGOS: Mapping[str, Format] = {
    "FP8": FP8_TENSOR_STATIC,
    "FP8_PER_CHANNEL_PER_TOKEN": FP8_CHANNEL,
    "MXFP8": MXFP8,
    "MXFP4": MXFP4,
    "W4A8_MXFP4_FP8": MXFP4,
    "INT8_SQ": INT8_CHANNEL_STATIC,
    "W8A8_SQ_PER_CHANNEL": INT8_CHANNEL_STATIC,
    "W8A16": int_packed(BYTE_BITS, None),
}
BLOCK_ALGOS = ("FP8_PB_WO", "FP8_PB_REAL", "FP8_BLOCK_SCALES")
NVFP4_ALGOS = ("NVFP4", "NVFP4_AWQ", "W4A8_NVFP4_FP8")
INT4_ALGOS = ("INT4_AWQ", "W4A16_AWQ", "W4A8_AWQ", "W4A16", "INT4")
WEIGHT_ONLY = "W4A16_NVFP4"
ALGOS = (*PLAIN_ALGOS, *BLOCK_ALGOS, *NVFP4_ALGOS, *INT4_ALGOS, WEIGHT_ONLY, MIXED)


def read_modelopt(settings: Settings) -> Scheme:
    """The scheme of `hf_quant_config.json` or of modelopt's `quantization_config`.

    Layers outside the table of a mixed scheme stay as they are (vLLM modelopt.py ModelOptMixedPrecisionConfig).
    """
    quant = settings.quant.sub("quantization") or settings.quant
    algo = quant.str("quant_algo").upper()
    skipped = list_rules(quant.strs("exclude_modules", "ignore") or (), None)
    if algo == MIXED:
        if not (listed := layer_rules(quant)):
            raise quant.unknown("quantized_layers", "absent", f"{MIXED} needs a table of layers")
        rules = (*skipped, *listed, Rule("", None))
    else:
        if algo == "NVFP4" and _is_weight_only(quant):
            algo = WEIGHT_ONLY
        form = _algo_format(quant, algo)
        # Unless excluded, the output head is a linear like any other (vLLM modelopt.py get_quant_method).
        rules = (*skipped, Rule("", form, ("**.lm_head",)), *default_rules(form))
    return Scheme("modelopt", rules, kv_dtype(quant.raw("kv_cache_quant_algo", "kv_cache_scheme")))


def layer_rules(quant: Config) -> tuple[Rule, ...]:
    """Rules of the `quantized_layers` table, one per format; empty without a table.

    The first expert of a layer speaks for all of them, as in vLLM modelopt.py _resolve_quant_algo.
    """
    table = quant.sub("quantized_layers")
    groups: dict[Format | None, list[str]] = {}
    if table is not None:
        # tens of thousands of experts are a few hundred modules once their index is gone
        first = {_without_index(str(layer)): layer for layer in reversed(list(table.values))}
        for layer, key in first.items():
            if (entry := table.sub(key)) is not None:
                groups.setdefault(_algo_format(entry, entry.str("quant_algo").upper()), []).append(layer)
    return tuple(rule for form, layers in groups.items() for rule in list_rules(layers, form))


def _without_index(layer: str) -> str:
    head, mark, tail = layer.partition(".experts.")
    index, _, rest = tail.partition(".")
    return f"{head}.experts.{rest}" if mark and rest and index.isdecimal() else layer


def _algo_format(config: Config, algo: str) -> Format | None:
    if algo in ("", "NONE", "NO_QUANT"):
        raise config.unknown("quant_algo", algo or "absent", f"one of {', '.join(ALGOS)}")
    if algo in PLAIN_ALGOS:
        return PLAIN_ALGOS[algo]
    if algo in BLOCK_ALGOS:
        side = group_size(config, "group_size") or FP8_BLOCK
        return fp8_block(side, side)
    if algo in INT4_ALGOS:
        return int_packed(INT4_BITS, group_size(config, "group_size", default=INT4_GROUP))
    if algo in NVFP4_ALGOS or algo == WEIGHT_ONLY:
        return nvfp4(group_size(config, "group_size") or NVFP4_BLOCK, algo != WEIGHT_ONLY)
    raise config.unknown("quant_algo", algo, f"one of {', '.join(ALGOS)}")


def _is_weight_only(quant: Config) -> bool:
    """Whether every group quantises weights only, as vLLM modelopt.py ModelOptNvFp4Config._from_config asks."""
    groups = [group for _, group in objects(quant.sub("config_groups"))]
    return bool(groups) and not any(group.has("input_activations") for group in groups)
