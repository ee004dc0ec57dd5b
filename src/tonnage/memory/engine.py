"""What an engine must decide for the memory formulas; each engine's rules fill it for one version and card."""

from __future__ import annotations

from tonnage.memory.serving import Serving
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from tonnage.errors import LayoutError
    from tonnage.figure import Line
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Group, Parts
    from tonnage.layout.widths import Widths
    from tonnage.memory.rank_view import RankView
    from tonnage.memory.weights import Store, Weighed
    from tonnage.model.arch import Arch
else:
    Protocol = object


@value
class Pool:
    """What an engine makes of `pool_bytes` of KV memory on its poorest rank.

    `tokens` and `concurrency` are the two numbers the engine logs. `needed_bytes` is the memory of one request at
    full length, `max_context` the longest single request that fits, `token_bytes` the growth per token of context.
    `state_bytes` is the fixed part of one request. `fits` says whether the engine would start, `obstacle` what stands
    in the way when it is not the size of one request, `note` what a reader must know.
    """

    pool_bytes: int
    tokens: int
    concurrency: float
    needed_bytes: int
    max_context: int
    token_bytes: int
    state_bytes: int
    block_size: int | None
    num_blocks: int | None
    fits: bool
    trace: str = ""
    note: str | None = None
    obstacle: str | None = None


@value
class Limits:
    """Limits a person asked for; None leaves the engine's default.

    Lengths in tokens, `fraction` of the card's memory, `kv_bytes` and `offload_bytes` in bytes per rank.
    `num_spec` tokens are drafted ahead by the model's own draft layers; `max_loras` adapters of `max_lora_rank`.
    """

    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    fraction: float | None = None
    kv_dtype: str | None = None
    block_size: int | None = None
    eager: bool = False
    kv_bytes: int | None = None
    offload_bytes: int = 0
    concurrency: int | None = None
    num_spec: int = 0
    max_loras: int = 0
    max_lora_rank: int | None = None

    def serving(
        self, max_model_len: int, max_num_seqs: int, max_num_batched_tokens: int, fraction: float | None, kv_dtype: str
    ) -> Serving:
        """What is served when an engine has decided these five; the rest as asked, without drafts and adapters."""
        return Serving(
            max_model_len, max_num_seqs, max_num_batched_tokens, fraction, kv_dtype, self.block_size, self.eager,
            self.kv_bytes, self.offload_bytes, self.concurrency,
        )  # fmt: skip


class Engine(Protocol):
    """The rules of one engine version on one card."""

    @property
    def name(self) -> str:
        """`vllm`, `sglang` or `llamacpp`."""

    @property
    def version(self) -> str:
        """The version whose rules are used."""

    @property
    def host_groups(self) -> frozenset[Group]:
        """Groups of tensors that the engine keeps in host memory."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the choice of rules."""

    def refusal(self, parts: Parts, layout: Layout) -> LayoutError | None:
        """The engine's reason to refuse a layout or format; None when it accepts."""

    def widths(self, layout: Layout) -> Widths:
        """Over how many ranks each group of tensors is divided."""

    def stages(self, num_layers: int, layout: Layout) -> tuple[range, ...]:
        """Layers of each pipeline stage."""

    def ends(self, arch: Arch, is_first: bool, is_last: bool) -> tuple[bool, bool]:
        """Whether a pipeline stage holds the embedding table, and whether it holds the output head."""

    def serving(self, parts: Parts, layout: Layout, limits: Limits) -> Serving:
        """The limits with this version's defaults filled in."""

    def store(self, arch: Arch) -> Store:
        """Gives the bytes of a shard of `arch` as the engine keeps it, padding included."""

    def buffers(self, view: RankView, weighed: Weighed) -> int:
        """Bytes of what the engine keeps beside the parameters: rotary tables, scales, absorbed matrices."""

    def overheads(self, view: RankView, weights_bytes: int) -> tuple[Line, ...]:
        """Activations, graphs, communication and context of the rank."""

    def budget(self, view: RankView) -> int:
        """Bytes of the card the engine allows itself."""

    def pool(self, view: RankView, weights_bytes: int, lines: tuple[Line, ...]) -> int:
        """Bytes left for the KV cache on the rank; negative when nothing is left."""

    def plan_pool(self, view: RankView, pool_bytes: int) -> Pool:
        """What the engine makes of that much KV memory."""

    def load_peak(self, view: RankView, weights_bytes: int) -> int:
        """The largest number of bytes held at once while loading."""
