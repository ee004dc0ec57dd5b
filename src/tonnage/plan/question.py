"""One question, as a line of a batch file or a command line asks it."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.value import fields, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

INTEGERS = {
    "gpu_count", "nodes", "tp", "pp", "dp", "dcp", "max_model_len", "max_num_seqs", "max_num_batched_tokens",
    "block_size", "kv_cache_memory_bytes", "concurrency", "num_speculative_tokens", "max_loras", "max_lora_rank",
}  # fmt: skip
FRACTIONS = {"gpu_memory_utilization", "mem_fraction_static", "cpu_offload_gb"}
FLAGS = {"ep", "dp_attention", "enforce_eager"}
LARGEST = 1 << 50  # bytes or tokens; anything above is a typing error


@value
class Question:
    """Fields as the JSON contract names them; None means the engine's or planner's default.

    `gpu` is a card's name, `gpu_count` the total over all nodes; or `gpu` is a whole fleet (`2x8xH100`). Lengths in
    tokens, `cpu_offload_gb` in GiB per card, `kv_cache_memory_bytes` in bytes per rank.
    """

    model: str
    gpu: str
    id: str | None = None
    gpu_count: int | None = None
    nodes: int | None = None
    engine: str = "vllm"
    engine_version: str | None = None
    tp: int | None = None
    pp: int | None = None
    dp: int | None = None
    ep: bool | None = None
    dcp: int | None = None
    dp_attention: bool = False
    quantization: str | None = None
    kv_cache_dtype: str | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    block_size: int | None = None
    gpu_memory_utilization: float | None = None
    mem_fraction_static: float | None = None
    enforce_eager: bool = False
    cpu_offload_gb: float | None = None
    kv_cache_memory_bytes: int | None = None
    concurrency: int | None = None
    num_speculative_tokens: int | None = None
    max_loras: int | None = None
    max_lora_rank: int | None = None
    trust: str | None = None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Question:
        """A question from its JSON record; a wrong type, range or unknown field is a UsageError naming it."""
        known = set(fields(cls))
        values = {key: _checked(key, value, known) for key, value in record.items() if value is not None}
        for name in ("model", "gpu"):
            if not values.get(name):
                raise UsageError(name, "absent", "every question names a model and a gpu")
        return cls(**values)


def _checked(key: str, value: Any, known: set[str]) -> Any:
    if key not in known:
        raise UsageError("field", key, f"one of {', '.join(sorted(known))}")
    if key in INTEGERS:
        return _integer(key, value)
    if key in FRACTIONS:
        return _fraction(key, value)
    if key in FLAGS:
        return _flag(key, value)
    if key == "id":
        return str(value)
    if not isinstance(value, str):
        raise UsageError(key, value, "a text")
    return value


def _integer(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= LARGEST:
        raise UsageError(key, value, f"a whole number from 1 to {LARGEST}")
    if value != int(value):
        raise UsageError(key, value, "a whole number")
    return int(value)


def _fraction(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(key, value, "a number")
    if key != "cpu_offload_gb" and not 0 < value <= 1:
        raise UsageError(key, value, "a fraction above 0 and at most 1")
    if not 0 <= value < LARGEST:
        raise UsageError(key, value, "a number of GiB, 0 or more")
    return float(value)


def _flag(key: str, value: Any) -> bool:
    if key == "ep" and isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value > 1  # some tools write the expert-parallel size here
    if not isinstance(value, bool):
        raise UsageError(key, value, "true or false")
    return value
