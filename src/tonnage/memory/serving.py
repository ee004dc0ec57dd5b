"""What the engine is asked to do: the limits that decide activations, KV pool and admission."""

from __future__ import annotations

from tonnage.value import value


@value
class Serving:
    """Limits of one engine instance, defaults already filled in for the engine version and card.

    Lengths and batch sizes in tokens, `max_num_seqs` in requests. `kv_bytes` fixes the KV pool of a rank;
    `offload_bytes` of weights live in host memory. `fraction` is the engine's share of the card
    (vLLM gpu_memory_utilization, SGLang mem_fraction_static), None where the engine has no such setting.
    `num_spec` tokens are drafted ahead by the model's own draft layers; `max_loras` adapters of up to `max_lora_rank`
    have room on every rank.
    """

    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    fraction: float | None
    kv_dtype: str
    block_size: int | None = None
    eager: bool = False
    kv_bytes: int | None = None
    offload_bytes: int = 0
    concurrency: int | None = None
    num_spec: int = 0
    max_loras: int = 0
    max_lora_rank: int | None = None
