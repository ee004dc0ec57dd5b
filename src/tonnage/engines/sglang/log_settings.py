"""The settings in SGLang's start-up log, which prints all of them."""

from __future__ import annotations

from tonnage.memory.log_number import plain_number, whole_number
from tonnage.memory.log_pairs import find_pairs
from tonnage.memory.receipt import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_VALUE = r"""['"]?(?<![a-z_])(?P<key>[a-z_]+)['"]?[=:](?P<value>'[^']*'|"[^"]*"|[^,(){}\[\]'"]+)(?=[,)}])"""
_KEYS = {
    "model_path": "model",
    "tp_size": "tp",
    "pp_size": "pp",
    "dp_size": "dp",
    "ep_size": "ep",
    "enable_dp_attention": "dp_attention",
    "dtype": "dtype",
    "quantization": "quantization",
    "kv_cache_dtype": "kv_cache_dtype",
    "context_length": "max_model_len",
    "max_running_requests": "max_num_seqs",
    "chunked_prefill_size": "max_num_batched_tokens",
    "page_size": "block_size",
    "mem_fraction_static": "mem_fraction_static",
    "disable_cuda_graph": "enforce_eager",
    "cpu_offload_gb": "cpu_offload_gb",
}
_WHOLE = ("tp", "pp", "dp", "ep", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_size")
_NOTHING = ("None", "null", "")
_FRACTIONS = ("mem_fraction_static", "cpu_offload_gb")
_FLAGS = ("dp_attention", "enforce_eager")


def read_pairs(text: str) -> dict[str, str]:
    """The settings in a piece of the argument list, by question field; the first of a name counts."""
    return find_pairs(text, _VALUE, _KEYS, _NOTHING)


def read_settings(arguments: Mapping[str, str], others: Mapping[str, Any]) -> Settings:
    """The settings of one start; `others` come from single lines and fill what the arguments leave open."""
    values: dict[str, Any] = {name: _value(name, text) for name, text in arguments.items()}
    values["ep"] = None if values.get("ep") is None else values["ep"] > 1
    values |= {name: value for name, value in others.items() if values.get(name) is None}
    return Settings(**values, gpu_count=_cards(values))


def _cards(values: Mapping[str, Any]) -> int | None:
    """Cards of the start; data-parallel attention shares those of its tensor-parallel group."""
    tp = values.get("tp")
    if tp is None:
        return None
    replicas = 1 if values.get("dp_attention") else values.get("dp") or 1
    return int(tp * (values.get("pp") or 1) * replicas)


def _value(name: str, text: str) -> Any:
    if name in _FLAGS:
        return text in ("True", "true")
    if name in _WHOLE:
        # SGLang writes -1 for "no chunks" and 0 for "no offload": neither is a size.
        return max(0, whole_number(text) or 0) or None
    return plain_number(text) if name in _FRACTIONS else text
