"""A cache with its block size, and the blocks one request takes from it."""

from __future__ import annotations

from tonnage.memory.kv_spec import page_bytes
from tonnage.units import ceil_div
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_request import KvRequest
    from tonnage.engines.vllm.kv_rules import KvRules
    from tonnage.memory.kv_spec import KvKind, KvSpec

KDA = "kda"
FAMILIES: dict[KvKind, str] = {"mla": "full", "sliding_mla": "sliding"}


@value
class Paged:
    """`layers` layers on this rank (of `model_layers` in all stages) with pages of `page` bytes for `block` tokens."""

    spec: KvSpec
    block: int
    page: int
    layers: int
    model_layers: int

    @property
    def family(self) -> tuple[str, int, int | None]:
        """Caches of one family can share a block table: same kind of retention, block and window."""
        kind = self.spec.kind
        return FAMILIES.get(kind, kind), self.block, self.spec.window


def paged_specs(specs: tuple[KvSpec, ...], block: int, request: KvRequest) -> tuple[Paged, ...]:
    """The caches of a rank with their pages; what only other stages have is kept with no layers."""
    here = {replace(spec, layers=0): spec.layers for spec in specs}
    everywhere = {replace(spec, layers=0): spec.layers for spec in request.model_specs or specs}
    return tuple(
        Paged(spec, spec.block or block, page_bytes(spec, block), here.get(spec, 0), count)
        for spec, count in {**everywhere, **{s: everywhere.get(s, n) for s, n in here.items()}}.items()
    )


@value
class Demand:
    """One request of `length` tokens under the rules of a release."""

    length: int
    request: KvRequest
    rules: KvRules

    @property
    def in_flight(self) -> int:
        """Tokens scheduled and not yet settled, for which windows keep blocks."""
        return self.request.max_num_batched_tokens * (
            self.request.concurrent_batches if self.rules.counts_batches else 1
        )

    def blocks(self, paged: Paged) -> int:
        """Blocks the request takes from one block table (vLLM `max_memory_usage_bytes` over the page)."""
        spec = paged.spec
        if spec.grows:
            return ceil_div(ceil_div(self.length, self.request.dcp), paged.block)
        if spec.kind in ("sliding", "sliding_mla"):
            held = min((spec.window or 0) - 1 + self.in_flight, self.length)
            # One more because a window need not begin with a block.
            return ceil_div(held, paged.block) + 1
        if spec.kind == "chunked":
            return ceil_div(min((spec.window or 0) + self.in_flight, self.length), paged.block)
        if spec.kind == "cross":
            return ceil_div(self.request.encoder_tokens, paged.block)
        return 1 if spec.kind == "ring" else self._states(paged)

    def _states(self, paged: Paged) -> int:
        """One state; with prefix caching a second one, and a checkpoint of scans; one per drafted token."""
        mode = self.request.state_mode or self.rules.state_mode
        drafted = self.request.num_spec if self.rules.counts_drafted_states else 0
        if mode == "all":
            return ceil_div(self.length, paged.block) + drafted
        if mode == "none":
            return 1 + drafted
        return 2 + drafted + (1 if self._is_checkpointed(paged.spec) else 0)

    def _is_checkpointed(self, spec: KvSpec) -> bool:
        # Kimi's fused prefill exists on CUDA only (vLLM `models/kimi_k3/nvidia/kda.py`).
        return spec.scan in self.rules.checkpointed and (spec.scan != KDA or self.request.platform == "cuda")
