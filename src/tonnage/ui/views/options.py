"""The options of a question: a flag, the field of the question it fills, and what it takes."""

from __future__ import annotations

from tonnage.ui.views.subject import card_words
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    Kind = Literal["text", "whole", "number", "switch"]


@value
class Option:
    """`flag` on a command line for `field` of a question's record."""

    flag: str
    field: str
    kind: Kind
    help: str


OPTIONS = (
    Option("--tp", "tp", "whole", "tensor-parallel size"),
    Option("--pp", "pp", "whole", "pipeline stages"),
    Option("--dp", "dp", "whole", "data-parallel replicas"),
    Option("--ep", "ep", "switch", "whole experts per rank instead of slices of each"),
    Option("--dcp", "dcp", "whole", "decode-context-parallel size"),
    Option("--dp-attention", "dp_attention", "switch", "attention replicated, requests spread over the ranks"),
    Option("--precision", "quantization", "text", "weights as fp8, int4, bf16 ...; default: as stored"),
    Option("--kv-dtype", "kv_cache_dtype", "text", "element type of the KV cache: auto, fp8, bf16 ..."),
    Option("--context", "max_model_len", "whole", "longest request in tokens, prompt and output together"),
    Option("--concurrency", "concurrency", "whole", "requests of that length that must be held at once"),
    Option("--utilization", "gpu_memory_utilization", "number", "share of the card the engine may use, above 0 to 1"),
    Option("--max-num-seqs", "max_num_seqs", "whole", "most requests in one step"),
    Option("--max-num-batched-tokens", "max_num_batched_tokens", "whole", "most tokens in one step"),
    Option("--block-size", "block_size", "whole", "tokens in one block of the KV cache"),
    Option("--eager", "enforce_eager", "switch", "no captured graphs"),
    Option("--mtp", "num_speculative_tokens", "whole", "tokens drafted ahead by the model's own draft layers"),
    Option("--max-loras", "max_loras", "whole", "adapters that have room at once"),
    Option("--max-lora-rank", "max_lora_rank", "whole", "largest rank of an adapter; default: the engine's"),
    Option("--offload-gib", "cpu_offload_gb", "number", "GiB of weights a card keeps in host memory"),
    Option("--kv-bytes", "kv_cache_memory_bytes", "whole", "bytes of the KV cache on each rank, fixed"),
    Option("--trust", "trust", "text", "headers or config, when the two disagree on the size"),
)
FLEET_FIELDS = ("gpu", "gpu_count", "nodes")


def change_words(change: Mapping[str, Any], fleet: Mapping[str, Any]) -> str:
    """A remedy's change as one would type it: `--on '2x8xH100 PCIe' --tp 8`; `fleet` is the answer's."""
    words = [_fleet_words(change, fleet)] if any(change.get(field) for field in FLEET_FIELDS) else []
    stated = [option for option in OPTIONS if _is_said(option, change.get(option.field))]
    words += [option.flag if option.kind == "switch" else f"{option.flag} {change[option.field]}" for option in stated]
    return " ".join(words)


def _is_said(option: Option, value: Any) -> bool:
    """Sizes of one and switches that are off are what they are anyway; `--tp 1` is a choice."""
    if value is None or value is False:
        return False
    return option.flag == "--tp" or option.field not in ("pp", "dp", "dcp") or value > 1


def _fleet_words(change: Mapping[str, Any], fleet: Mapping[str, Any]) -> str:
    nodes = change.get("nodes") or fleet.get("nodes") or 1
    old_count = fleet.get("count") or 1
    count = change["gpu_count"] // nodes if change.get("gpu_count") else old_count
    name = card_words(str(change.get("gpu") or fleet.get("name") or fleet.get("accelerator")))
    text = f"{nodes}x{count}x{name}" if nodes > 1 else f"{count}x{name}"
    return f"--on '{text}'" if " " in text else f"--on {text}"
