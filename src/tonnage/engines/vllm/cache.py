"""From a rank to the plan of its cache."""

from __future__ import annotations

from tonnage.engines.vllm.defaults import concurrent_batches
from tonnage.engines.vllm.kv_block import CPU_BLOCK
from tonnage.engines.vllm.kv_planner import plan_kv, plan_with_block
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.kv_types import cache_types
from tonnage.engines.vllm.version import Version
from tonnage.kept import kept
from tonnage.memory.engine import Pool
from tonnage.memory.extras import draft_mixers
from tonnage.memory.kv import Share, kv_specs
from tonnage.memory.rank_view import STAGES_KEPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.defaults import Device
    from tonnage.engines.vllm.kv_plan import KvPlan
    from tonnage.layout.parts import Parts
    from tonnage.memory.kv_spec import KvSpec
    from tonnage.memory.rank_view import RankView

GRAPHS_NEED_STATES = Version(0, 20)
# The planner's own numbers; a CPU worker may raise the block of hybrid models afterwards, as its kernels ask.
CPU_NOTE = "a CPU worker raises the cache block of this hybrid model to {} tokens: give it as block size for its log"


def plan_cache(version: Version, device: Device, view: RankView, pool_bytes: int) -> Pool:
    """What vLLM makes of `pool_bytes` on the rank."""
    arch, serving = view.parts.arch, view.serving
    types = cache_types(serving.kv_dtype, arch, version, device.platform, view.card.target)
    share = Share(view.widths.attention, types, serving.num_spec)
    request = KvRequest(
        available_bytes=pool_bytes,
        max_model_len=serving.max_model_len,
        max_num_batched_tokens=serving.max_num_batched_tokens,
        concurrent_batches=concurrent_batches(version, view.layout.pp, False if device.platform == "cpu" else None),
        block_size=serving.block_size,
        platform=device.platform,
        target=view.card.target,
        dcp=view.layout.dcp,
        model_specs=_whole_model(view.parts, share) if view.layout.pp > 1 else None,
        context_limit=max(arch.max_context, serving.max_model_len),
        num_spec=serving.num_spec,
    )
    specs = kv_specs((*view.mixers, *draft_mixers(view)), share)
    plan = plan_kv(specs, request, version)
    note = None
    has_states = any(spec.kind == "state" for spec in specs)
    if device.platform == "cpu" and has_states and serving.block_size is None and plan.block_size > CPU_BLOCK:
        note = CPU_NOTE.format(plan.block_size)
        plan = plan_with_block(specs, CPU_BLOCK, request, kv_rules(version))
    trace = f"{plan.num_blocks:,} blocks of {plan.bytes_per_block:,} B"
    has_graphs = device.platform != "cpu" and not serving.eager and version >= GRAPHS_NEED_STATES
    obstacle = find_shortage(plan, serving.max_num_seqs) if plan.fits and has_states and has_graphs else None
    return Pool(
        pool_bytes, plan.tokens, plan.concurrency, plan.needed_bytes, plan.max_context, plan.token_bytes,
        plan.fixed_bytes, plan.block_size, plan.num_blocks, plan.fits and obstacle is None, trace, note, obstacle,
    )  # fmt: skip


def find_shortage(plan: KvPlan, max_num_seqs: int) -> str | None:
    """Why graphs of recurrent models cannot be captured: each sequence of a step needs a block for its state.

    (vLLM `config/compilation.py` resolve_cudagraph_mode_and_sizes)
    """
    if max_num_seqs <= plan.num_blocks:
        return None
    return f"max_num_seqs of {max_num_seqs:,} exceeds the {plan.num_blocks:,} cache blocks that hold recurrent states"


@kept(STAGES_KEPT)
def _whole_model(parts: Parts, share: Share) -> tuple[KvSpec, ...]:
    layers = (*parts.arch.layers, *(parts.arch.draft if share.num_spec else ()))
    return kv_specs([mixer for layer in layers for mixer in layer.mixers], share)
