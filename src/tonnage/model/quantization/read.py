"""A checkpoint's quantisation scheme from its configuration files."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tonnage.errors import UnknownKeyError
from tonnage.model.config.keys import TEXT_KEYS, Config
from tonnage.model.quantization.method.settings import Settings
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tonnage.model.quantization.scheme import Scheme

CONFIG_KEYS = ("quantization_config", "compression_config")
NEST_MAX = 4

# Method as configurations name it -> module and function that read it, imported when met.
READERS: Mapping[str, tuple[str, str]] = {
    "fp8": ("fp8", "read_fp8"),
    "deepseek_v4_fp8": ("fp8", "read_fp8"),
    "fbgemm_fp8": ("fp8", "read_fbgemm"),
    "gptq": ("gptq", "read_gptq"),
    "gptq_marlin": ("gptq", "read_gptq"),
    "auto_gptq": ("gptq", "read_gptq"),
    "awq": ("gptq", "read_awq"),
    "awq_marlin": ("gptq", "read_awq"),
    "auto_awq": ("gptq", "read_awq"),
    "compressed-tensors": ("compressed", "read_compressed"),
    "compressed_tensors": ("compressed", "read_compressed"),
    "modelopt": ("modelopt", "read_modelopt"),
    "modelopt_fp4": ("modelopt", "read_modelopt"),
    "modelopt_mxfp8": ("modelopt", "read_modelopt"),
    "modelopt_mixed": ("modelopt", "read_modelopt"),
    "quark": ("quark", "read_quark"),
    "mxfp4": ("microscaling", "read_mxfp4"),
    "gpt_oss_mxfp4": ("microscaling", "read_mxfp4"),
    "mxfp8": ("microscaling", "read_mxfp8"),
    "fp_quant": ("microscaling", "read_fp_quant"),
    "auto-round": ("autoround", "read_autoround"),
    "auto_round": ("autoround", "read_autoround"),
    "intel/auto-round": ("autoround", "read_autoround"),
    "inc": ("autoround", "read_autoround"),
    "bitsandbytes": ("transformers", "read_bitsandbytes"),
    "torchao": ("torchao", "read_torchao"),
    "hqq": ("transformers", "read_hqq"),
    "quanto": ("transformers", "read_quanto"),
    "eetq": ("transformers", "read_eetq"),
    "experts_int8": ("transformers", "read_experts_int8"),
    "w8a8_int8": ("transformers", "read_w8a8_int8"),
}


def read_scheme(config: Mapping[str, object], separate: Mapping[str, object] | None = None) -> Scheme | None:
    """The scheme of a whole model configuration, or None for a checkpoint in the model's own dtype.

    `quantization_config` or `compression_config` may stand at the top or inside the text part. `separate` is
    `hf_quant_config.json`; it is read when the configuration itself says nothing, as the engines do.
    Unknown methods and algorithms are an UnknownKeyError, broken values an UnreadableError.
    """
    model = Config(config)
    quant = _find(model)
    if quant is not None:
        scheme = _reader(quant)(Settings(quant, model))
        return scheme if scheme is None or _is_declared(quant) else replace(scheme, is_declared=False)
    if separate:
        return _load("modelopt", "read_modelopt")(Settings(Config(separate, "hf_quant_config."), model))
    return None


def _is_declared(quant: Config) -> bool:
    """Whether engines recognise the settings: by `quant_method`, or as ModelOpt's older nested form."""
    return quant.has("quant_method", "quantization")


def _find(model: Config) -> Config | None:
    """The settings, wherever they stand; an empty object counts as none."""
    for _ in range(NEST_MAX):
        found = model.sub(*CONFIG_KEYS)
        if found is not None and found.values:
            return found
        inner = model.sub(*TEXT_KEYS)
        if inner is None:
            return None
        model = inner
    return None


def _reader(quant: Config) -> Callable[[Settings], Scheme]:
    method = (quant.opt_str("quant_method") or _implied(quant)).lower()
    if method not in READERS:
        known = ", ".join(sorted(READERS))
        raise UnknownKeyError(f"{quant.path}quant_method", repr(method[:64]), f"one of {known}")
    return _load(*READERS[method])


def _load(module: str, function: str) -> Callable[[Settings], Scheme]:
    found = import_module(f"tonnage.model.quantization.method.{module}")
    return cast("Callable[[Settings], Scheme]", getattr(found, function))


def _implied(quant: Config) -> str:
    """The method of files that do not name theirs: older modelopt, bitsandbytes and compressed-tensors exports."""
    if quant.has("quant_algo", "quantization"):
        return "modelopt"
    if quant.has("load_in_4bit", "load_in_8bit", "_load_in_4bit", "_load_in_8bit"):
        return "bitsandbytes"
    if quant.has("config_groups"):
        return "compressed-tensors"
    if quant.has("global_quant_config"):
        return "quark"
    raise UnknownKeyError(f"{quant.path}quant_method", "absent", f"one of {', '.join(sorted(READERS))}")
