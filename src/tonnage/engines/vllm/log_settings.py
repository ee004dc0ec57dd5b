"""The settings in vLLM's start-up log: the arguments that are not defaults, and the engine's configuration."""

from __future__ import annotations

from tonnage.memory.log_number import plain_number, whole_number
from tonnage.memory.log_pairs import find_pairs
from tonnage.memory.receipt import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_VALUE = r"""(?P<key>[a-z_]+)['"]?[=:](?P<value>'[^']*'|"[^"]*"|\[[^\]]*\]|[^,(){}\[\]'"]+)(?=[,)}])"""
_KEYS = {
    "model": "model",
    "model_tag": "model",
    "tensor_parallel_size": "tp",
    "pipeline_parallel_size": "pp",
    "data_parallel_size": "dp",
    "decode_context_parallel_size": "dcp",
    "enable_expert_parallel": "ep",
    "dtype": "dtype",
    "quantization": "quantization",
    "kv_cache_dtype": "kv_cache_dtype",
    "max_model_len": "max_model_len",
    "max_seq_len": "max_model_len",
    "max_num_seqs": "max_num_seqs",
    "max_num_batched_tokens": "max_num_batched_tokens",
    "block_size": "block_size",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "enforce_eager": "enforce_eager",
    "cpu_offload_gb": "cpu_offload_gb",
    "kv_cache_memory_bytes": "kv_cache_memory_bytes",
}
_WHOLE = (
    "tp", "pp", "dp", "dcp", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_size",
    "kv_cache_memory_bytes",
)  # fmt: skip
_NOTHING = ("None", "")
_FRACTIONS = ("gpu_memory_utilization", "cpu_offload_gb")
_FLAGS = ("ep", "enforce_eager")


def read_pairs(text: str) -> dict[str, str]:
    """The settings in a piece of an argument list or configuration, by question field; the first of a name counts.

    Settings of nested configurations, such as a draft model's, come after those of the model.
    """
    return find_pairs(text, _VALUE, _KEYS, _NOTHING)


def read_settings(arguments: Mapping[str, str], config: Mapping[str, str], others: Mapping[str, Any]) -> Settings:
    """The settings of one start: what was asked for goes before what the engine made of it, then single lines."""
    texts = {**config, **arguments}
    values: dict[str, Any] = {name: _value(name, text) for name, text in texts.items() if name != "quantization"}
    values["quantization"] = arguments.get("quantization")
    values["stored_quantization"] = config.get("quantization")
    values |= {name: value for name, value in others.items() if values.get(name) is None}
    cards = [values.get(name) for name in ("tp", "pp", "dp") if values.get(name)]
    return Settings(**values, gpu_count=_product(cards) if cards else None)


def _value(name: str, text: str) -> Any:
    if name in _FLAGS:
        return text == "True"
    if name in _WHOLE:
        return whole_number(text)
    return plain_number(text) if name in _FRACTIONS else text.removeprefix("torch.")


def _product(factors: list[Any]) -> int:
    total = 1
    for factor in factors:
        total *= factor
    return total
