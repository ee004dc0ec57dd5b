"""The rules of one SGLang version on one card."""

from __future__ import annotations

from tonnage.engines.sglang.batch import batch_limits
from tonnage.engines.sglang.buffers import LOADING_SLACK_BYTES, absorbed_bytes, fused_shared_bytes, rope_bytes
from tonnage.engines.sglang.cache_types import cache_dtype
from tonnage.engines.sglang.checks import find_refusal
from tonnage.engines.sglang.fraction import Start, static_fraction
from tonnage.engines.sglang.links import communication_line, context_line
from tonnage.engines.sglang.loading import load_peak_bytes
from tonnage.engines.sglang.pool import MOST_REQUESTS, plan_pool, running_requests
from tonnage.engines.sglang.run_time import activation_line, graph_line, places_line, vision_line
from tonnage.engines.sglang.stored import compute_dtype, keeps_loaded_scales, make_store
from tonnage.engines.sglang.version import choose_version
from tonnage.engines.sglang.widths import sglang_widths
from tonnage.layout.stages import split_layers
from tonnage.model.mixer.compressed import Compressed
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.engines.sglang.version import Version
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

# DeepSeek V4 starts with fewer; 256 stands in the one public log.
COMPRESSED_REQUESTS = 256


@value
class SglangEngine:
    """SGLang as `memory.engine.Engine`; `rules` is the version whose rules apply."""

    rules: Version
    card: Accelerator
    notes: tuple[str, ...] = ()
    name: str = "sglang"

    @property
    def host_groups(self) -> frozenset[Group]:
        """Everything is kept on the card."""
        return frozenset()

    @property
    def version(self) -> str:
        """The version whose rules are used."""
        return str(self.rules)

    def refusal(self, parts: Parts, layout: Layout) -> LayoutError | None:
        """SGLang's reason to refuse, if any."""
        return find_refusal(parts, layout, self.widths(layout))

    def widths(self, layout: Layout) -> Widths:
        """Tensor parallelism cuts everything; data-parallel attention cuts attention less."""
        return sglang_widths(layout)

    def stages(self, num_layers: int, layout: Layout) -> tuple[range, ...]:
        """Layers of each stage; the last one is spared (SGLang `distributed/utils.py` get_pp_indices)."""
        return split_layers(num_layers, layout.pp)

    def ends(self, arch: Arch, is_first: bool, is_last: bool) -> tuple[bool, bool]:  # noqa: ARG002
        """Embedding on the first stage, head on the last."""
        return is_first, is_last

    def serving(self, parts: Parts, layout: Layout, limits: Limits) -> Serving:
        """Limits with this version's defaults for the card."""
        arch = parts.arch
        length = limits.max_model_len or arch.max_context
        start = self._start(arch, layout, limits, length)
        replicas = layout.dp if layout.dp_inside_tp else 1
        return limits.serving(
            max_model_len=length,
            max_num_seqs=max(1, (limits.max_num_seqs or self._requests(arch) * replicas) // replicas),
            # The ranks of data-parallel attention share a chunk.
            max_num_batched_tokens=max(1, start.batch.chunk_tokens // replicas),
            fraction=static_fraction(start, limits.fraction),
            kv_dtype=cache_dtype(limits.kv_dtype, arch, self.rules, self.card),
        )

    def _start(self, arch: Arch, layout: Layout, limits: Limits, length: int) -> Start:
        card_bytes = self.card.memory_bytes or 0
        batch = batch_limits(self.rules, card_bytes, layout.tp).asked(limits.max_num_batched_tokens, limits.eager)
        return Start(self.rules, self.card, card_bytes, arch, layout, batch, length)

    def _requests(self, arch: Arch) -> int:
        return COMPRESSED_REQUESTS if arch.has_mixer(Compressed) else MOST_REQUESTS

    def store(self, arch: Arch) -> Store:
        """Bytes of a shard in SGLang's dtype with its kernels' padding."""
        return make_store(self.card, compute_dtype(arch.dtype), keeps_loaded_scales(self.rules, self.card, arch))

    def buffers(self, view: RankView, weighed: Weighed) -> int:  # noqa: ARG002
        """Rotary tables, absorbed latent projections, copies of fused shared experts, slack of loading."""
        shared = fused_shared_bytes(self.rules, view, self.store(view.parts.arch))
        slack = 0 if self.card.vendor == "host" else LOADING_SLACK_BYTES
        return rope_bytes(view) + absorbed_bytes(view) + shared + slack

    def overheads(self, view: RankView, weights_bytes: int) -> tuple[Line, ...]:
        """Context and communication, which come before the static share, and what lives in the rest of the card."""
        reserved = vision_line(self.rules, view)
        pool_bytes = self.budget(view) - weights_bytes - reserved.bytes
        tokens = plan_pool(self.rules, view, max(0, pool_bytes)).tokens
        requests = running_requests(view.serving.max_num_seqs, tokens, view.serving.max_model_len)
        places = places_line(requests, view.serving.max_model_len)
        run_time = (activation_line(view), graph_line(self.rules, view), reserved, places)
        return (*run_time, communication_line(view), context_line(self.card))

    def budget(self, view: RankView) -> int:
        """mem_fraction_static of what is free before the weights are loaded."""
        free = view.card_bytes - context_line(self.card).bytes - communication_line(view).bytes
        return int(free * (view.serving.fraction or 0))

    def pool(self, view: RankView, weights_bytes: int, lines: tuple[Line, ...]) -> int:
        """The budget less weights and the reserve for images; graphs and activations live in the rest of the card."""
        reserved = sum(line.bytes for line in lines if line.name == "multimodal")
        return self.budget(view) - weights_bytes - reserved

    def plan_pool(self, view: RankView, pool_bytes: int) -> Pool:
        """Tokens and concurrency of that much cache."""
        return plan_pool(self.rules, view, pool_bytes)

    def load_peak(self, view: RankView, weights_bytes: int) -> int:
        """Final weights and one tensor of all experts, or the whole model in 16 bit before online quantisation."""
        return load_peak_bytes(view, weights_bytes, self.store(view.parts.arch))


def make_sglang(version: str | None, card: Accelerator) -> SglangEngine:
    """The engine of `version` (None: the newest known) on `card`; UsageError for a text that is no version."""
    choice = choose_version(version)
    return SglangEngine(choice.version, card, choice.notes)
