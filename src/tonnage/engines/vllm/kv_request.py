"""What the cache planner is asked."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.engines.vllm.kv_rules import StateMode
    from tonnage.memory.kv_spec import KvSpec

    Platform = Literal["cuda", "rocm", "cpu", "other"]


@value
class KvRequest:
    """Memory of one rank and the options that change the plan.

    `available_bytes` for the cache, lengths in tokens. `block_size` None lets the engine choose, for `platform` and
    `target` (`sm_90`). `concurrent_batches` are the steps in flight, `num_spec` the tokens drafted ahead,
    `encoder_tokens` those of an encoder whose keys are cached. `state_mode` None is the version's default.
    `model_specs` are the caches of all pipeline stages; None means there is one stage. `context_limit` bounds the
    search for the longest context; None is `max_model_len`.
    """

    available_bytes: int
    max_model_len: int
    max_num_batched_tokens: int
    concurrent_batches: int = 1
    block_size: int | None = None
    platform: Platform = "cuda"
    target: str | None = None
    dcp: int = 1
    num_spec: int = 0
    encoder_tokens: int = 0
    state_mode: StateMode | None = None
    hybrid_manager: bool = True
    model_specs: tuple[KvSpec, ...] | None = None
    context_limit: int | None = None
