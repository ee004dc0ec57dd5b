"""The rules of one llama.cpp build on one card."""

from __future__ import annotations

from tonnage.engines.llamacpp.build import FIRST_WITH_SLOTS, Build, choose_build
from tonnage.engines.llamacpp.cache_types import cache_pair
from tonnage.engines.llamacpp.checks import find_refusal
from tonnage.engines.llamacpp.compute import compute_line, encoder_bytes
from tonnage.engines.llamacpp.placement import split_layers
from tonnage.engines.llamacpp.pool import plan_pool
from tonnage.engines.llamacpp.stored import make_store
from tonnage.figure import banded, exact
from tonnage.layout.widths import Widths, plain_widths
from tonnage.units import MIB
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.errors import LayoutError
    from tonnage.figure import Line
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Group, Parts
    from tonnage.memory.engine import Limits, Pool
    from tonnage.memory.rank_view import RankView
    from tonnage.memory.serving import Serving
    from tonnage.memory.weights import Store, Weighed
    from tonnage.model.arch import Arch

MICRO_BATCH = 512  # -ub
SLOTS = 4  # -np since the server shares one cache among its slots; one before
MARGIN_BYTES = 1024 * MIB  # --fit-target, free on every device
# Driver context and libraries, the tables' "unaccounted" column: 0.7 GiB on a 96 GB card.
CONTEXT_BYTES = 700 * MIB
LOW, HIGH = 0.4, 3.0


@value
class LlamacppEngine:
    """llama.cpp as `memory.engine.Engine`; `build` is the build whose rules apply. A rank is a device."""

    build: Build
    card: Accelerator
    notes: tuple[str, ...] = ()
    name: str = "llamacpp"

    @property
    def version(self) -> str:
        """The build whose rules are used."""
        return str(self.build)

    @property
    def on_host(self) -> bool:
        """Whether the model runs on the processor."""
        return self.card.vendor == "host"

    @property
    def host_groups(self) -> frozenset[Group]:
        """The embedding table and other lookup tables, which no device reads."""
        return frozenset() if self.on_host else frozenset({"embedding", "lookup"})

    def refusal(self, parts: Parts, layout: Layout) -> LayoutError | None:
        """llama.cpp's reason to refuse, if any."""
        return find_refusal(parts, layout)

    def widths(self, layout: Layout) -> Widths:
        """Tensors are never cut: devices hold whole layers."""
        return plain_widths(layout)

    def stages(self, num_layers: int, layout: Layout) -> tuple[range, ...]:
        """Layers of each device."""
        return split_layers(num_layers, layout.pp)

    def ends(self, arch: Arch, is_first: bool, is_last: bool) -> tuple[bool, bool]:  # noqa: ARG002
        """The embedding table belongs to the first device, whose host keeps it; the output head to the last."""
        return is_first, is_last

    def serving(self, parts: Parts, layout: Layout, limits: Limits) -> Serving:  # noqa: ARG002
        """Limits with the program's defaults: the model's own context, micro-batches of 512, four slots."""
        slots = SLOTS if not self.build.is_ik and self.build.number >= FIRST_WITH_SLOTS else 1
        return limits.serving(
            max_model_len=limits.max_model_len or parts.arch.max_context,
            max_num_seqs=max(limits.max_num_seqs or slots, limits.concurrency or 1),
            max_num_batched_tokens=limits.max_num_batched_tokens or MICRO_BATCH,
            fraction=limits.fraction,
            kv_dtype=str(cache_pair(limits.kv_dtype)),
        )

    def store(self, arch: Arch) -> Store:
        """Bytes of a tensor as its file stores it."""
        return make_store(arch.dtype)

    def buffers(self, view: RankView, weighed: Weighed) -> int:
        """The copy of a tied embedding that serves as output head on the last device; rotations are computed."""
        is_copied = view.parts.arch.tied and view.has_head and not self.on_host
        return weighed.by_group.get("embedding", 0) if is_copied else 0

    def overheads(self, view: RankView, weights_bytes: int) -> tuple[Line, ...]:  # noqa: ARG002
        """Compute buffer, encoder and context of the device."""
        encoder = encoder_bytes(view.parts.arch) if view.is_first else 0
        context = 0 if self.on_host else CONTEXT_BYTES
        return (
            compute_line(self.build, view),
            exact("multimodal", encoder, "the encoder's file (--mmproj)"),
            banded("context", context, (LOW, HIGH), "measured", "unaccounted memory in logs"),
        )

    def budget(self, view: RankView) -> int:
        """The card, less the margin that newer builds leave, or the share of it that was asked for."""
        if view.serving.fraction is not None:
            return int(view.card_bytes * view.serving.fraction)
        return view.card_bytes - (MARGIN_BYTES if self.build.fits and not self.on_host else 0)

    def pool(self, view: RankView, weights_bytes: int, lines: tuple[Line, ...]) -> int:
        """What the budget leaves beside weights and buffers; the cache takes of it what `-c` asks for."""
        return self.budget(view) - weights_bytes - sum(line.bytes for line in lines if line.name != "weights")

    def plan_pool(self, view: RankView, pool_bytes: int) -> Pool:
        """Cells of the cache that was asked for, or as many as fit."""
        return plan_pool(self.build, view, pool_bytes)

    def load_peak(self, view: RankView, weights_bytes: int) -> int:  # noqa: ARG002
        """Tensors are read straight into their buffers."""
        return weights_bytes


def make_llamacpp(version: str | None, card: Accelerator) -> LlamacppEngine:
    """The engine of build `version` (None: the newest known) on `card`; UsageError for a text that is no build."""
    choice = choose_build(version)
    return LlamacppEngine(choice.build, card, choice.notes)
