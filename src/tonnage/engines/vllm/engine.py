"""The rules of one vLLM version on one card."""

from __future__ import annotations

from tonnage.engines.vllm.activations import activation_line
from tonnage.engines.vllm.allocator import rank_slack_bytes
from tonnage.engines.vllm.budget import budget_bytes, counts_graphs, default_utilization
from tonnage.engines.vllm.buffers import (
    FIRST_WITH_ALLOCATOR_VIEW,
    absorbed_bytes,
    driver_view_bytes,
    expert_map_bytes,
    rope_bytes,
    scale_bytes,
    unused_value_bytes,
)
from tonnage.engines.vllm.cache import plan_cache
from tonnage.engines.vllm.checks import EngineCard, find_refusal
from tonnage.engines.vllm.defaults import Asked, Device, batch_limits
from tonnage.engines.vllm.graphs import graph_line
from tonnage.engines.vllm.kv_types import cache_types
from tonnage.engines.vllm.links import communication_line, context_line
from tonnage.engines.vllm.loading import load_peak_bytes
from tonnage.engines.vllm.model_classes import embeds_everywhere, heads_everywhere, media_tokens
from tonnage.engines.vllm.stored import keeping_of
from tonnage.engines.vllm.version import Version, choose_version
from tonnage.layout.stages import split_layers
from tonnage.layout.widths import plain_widths
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.engines.vllm.kv_request import Platform
    from tonnage.errors import LayoutError
    from tonnage.figure import Line
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Group, Parts
    from tonnage.layout.widths import Widths
    from tonnage.memory.engine import Limits, Pool
    from tonnage.memory.rank_view import RankView
    from tonnage.memory.serving import Serving
    from tonnage.memory.weights import Store, Weighed
    from tonnage.model.arch import Arch

FIRST_WITH_SPARED_LAST_STAGE = Version(0, 8)
DEFAULT_LORA_RANK = 16  # vLLM `config/lora.py`
PLATFORMS: dict[str, Platform] = {"nvidia": "cuda", "amd": "rocm", "host": "cpu"}


@value
class VllmEngine:
    """vLLM as `memory.engine.Engine`; `rules` is the version whose rules apply."""

    rules: Version
    card: Accelerator
    notes: tuple[str, ...] = ()
    name: str = "vllm"

    @property
    def version(self) -> str:
        """The version whose rules are used."""
        return str(self.rules)

    @property
    def host_groups(self) -> frozenset[Group]:
        """Look-up tables of n-grams stay in host memory unless told otherwise (vLLM `models/deepseek_v41`)."""
        return frozenset() if self.device.platform == "cpu" else frozenset({"lookup"})

    @property
    def device(self) -> Device:
        """The card as the defaults table sees it."""
        platform = PLATFORMS.get(self.card.vendor, "other")
        return Device(platform, self.card.memory_bytes or 0, self.card.name)

    def refusal(self, parts: Parts, layout: Layout) -> LayoutError | None:
        """vLLM's reason to refuse, if any."""
        return find_refusal(parts, layout, self.widths(layout), EngineCard(self.rules, self.card))

    def widths(self, layout: Layout) -> Widths:
        """Tensor parallelism cuts everything; experts are flattened over data-parallel ranks too."""
        return plain_widths(layout)

    def stages(self, num_layers: int, layout: Layout) -> tuple[range, ...]:
        """Layers of each stage, by this version's rule for the remainder."""
        return split_layers(num_layers, layout.pp, self.rules >= FIRST_WITH_SPARED_LAST_STAGE)

    def ends(self, arch: Arch, is_first: bool, is_last: bool) -> tuple[bool, bool]:
        """Whether the stage holds embedding and head; some model classes create them everywhere."""
        names = arch.architectures
        return is_first or embeds_everywhere(names), is_last or heads_everywhere(names)

    def serving(self, parts: Parts, layout: Layout, limits: Limits) -> Serving:
        """Limits with this version's defaults for the card."""
        length = limits.max_model_len or parts.arch.max_context
        asked = Asked(
            length,
            limits.max_num_batched_tokens,
            limits.max_num_seqs,
            world=layout.tp * layout.pp,
            media_tokens=media_tokens(parts.arch),
        )
        batch = batch_limits(self.rules, self.device, asked)
        decided = limits.serving(
            max_model_len=length,
            max_num_seqs=batch.max_num_seqs,
            max_num_batched_tokens=batch.max_num_batched_tokens,
            fraction=limits.fraction or default_utilization(self.rules),
            kv_dtype=self._cache_dtype(parts.arch, limits.kv_dtype),
        )
        return replace(
            decided,
            num_spec=limits.num_spec if parts.arch.draft else 0,
            max_loras=limits.max_loras,
            max_lora_rank=limits.max_lora_rank or DEFAULT_LORA_RANK,
        )

    def _cache_dtype(self, arch: Arch, asked: str | None) -> str:
        types = cache_types(asked or "auto", arch, self.rules, self.device.platform, self.card.target)
        return types.attention

    def store(self, arch: Arch) -> Store:
        """Bytes of a shard in vLLM's dtype with its kernels' padding."""
        return keeping_of(arch, self.card)

    def buffers(self, view: RankView, weighed: Weighed) -> int:
        """Rotary tables, cache scales, expert maps and, on accelerators, absorbed projections and allocator blocks."""
        tables = rope_bytes(view) + scale_bytes(view) + expert_map_bytes(view) + unused_value_bytes(view)
        if self.device.platform == "cpu":
            return tables
        slack = rank_slack_bytes(view, keeping_of(view.parts.arch, self.card), self._counts_driver_view)
        return tables + absorbed_bytes(view) + slack + self._driver_view(view, weighed)

    @property
    def _counts_driver_view(self) -> bool:
        return self.device.platform == "rocm" and self.rules < FIRST_WITH_ALLOCATOR_VIEW

    def _driver_view(self, view: RankView, weighed: Weighed) -> int:
        if not self._counts_driver_view:
            return 0
        return driver_view_bytes(weighed.by_group.get("experts", 0) if view.parts.arch.scheme else 0)

    def overheads(self, view: RankView, weights_bytes: int) -> tuple[Line, ...]:  # noqa: ARG002
        """Activations, graphs, communication and context."""
        graphs = graph_line(view, self.rules)
        return (activation_line(view, self.rules), graphs, communication_line(view), context_line(self.card))

    def budget(self, view: RankView) -> int:
        """gpu_memory_utilization of the card."""
        return budget_bytes(view.card_bytes, view.serving.fraction or default_utilization(self.rules))

    def pool(self, view: RankView, weights_bytes: int, lines: tuple[Line, ...]) -> int:  # noqa: ARG002
        """The budget less everything inside it; graphs count from the version that estimates them."""
        inside = (line for line in lines if line.name != "cuda_graphs" or counts_graphs(self.rules))
        return self.budget(view) - sum(line.bytes for line in inside)

    def plan_pool(self, view: RankView, pool_bytes: int) -> Pool:
        """Blocks, tokens and concurrency of that much cache."""
        return plan_cache(self.rules, self.device, view, pool_bytes)

    def load_peak(self, view: RankView, weights_bytes: int) -> int:
        """Final weights and the largest tensor in flight, or all of them in 16 bit before online quantisation."""
        return load_peak_bytes(self.rules, view, weights_bytes)


def make_vllm(version: str | None, card: Accelerator) -> VllmEngine:
    """The engine of `version` (None: the newest known) on `card`; UsageError for a text that is no version."""
    choice = choose_version(version)
    return VllmEngine(choice.version, card, choice.notes)
