from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.engine import SglangEngine, make_sglang
from tonnage.errors import UsageError
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.layout.shard import Shard
from tonnage.memory.engine import Engine, Limits
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import Weighed
from tonnage.model.arch import Arch, Tower
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
GIB, MIB = 2**30, 2**20


def test_it_is_an_engine(hopper: Accelerator) -> None:
    engine: Engine = make_sglang("0.5.8.post1", hopper)
    assert (engine.name, engine.version, engine.notes) == ("sglang", "0.5.8", ())
    assert make_sglang("sglang commit 3d35b45f7", hopper).notes
    with pytest.raises(UsageError):
        make_sglang("banana", hopper)


def test_limits_are_filled_in(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    serving = make_sglang(None, hopper).serving(gather_parts(arch_of(gqa)), Layout(), Limits())
    assert (serving.max_model_len, serving.max_num_seqs, serving.max_num_batched_tokens) == (32768, 4096, 8192)
    assert serving.kv_dtype == "bfloat16"
    # 512 + 12,288 + 128 + 512 + 464 = 13,904 of 81,920 MiB.
    assert serving.fraction == 0.83


def test_what_was_asked_stays(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    asked = Limits(4096, 64, 2048, 0.9, "fp8_e4m3", 16, True, 5 * GIB, GIB, 3)
    serving = make_sglang(None, hopper).serving(gather_parts(arch_of(gqa)), Layout(), asked)
    assert (serving.max_model_len, serving.max_num_seqs, serving.max_num_batched_tokens) == (4096, 64, 2048)
    assert (serving.fraction, serving.kv_dtype, serving.block_size, serving.eager) == (0.9, "fp8_e4m3", 16, True)
    assert (serving.kv_bytes, serving.offload_bytes, serving.concurrency) == (5 * GIB, GIB, 3)


def test_replicas_share_chunk_and_requests(hopper: Accelerator, mla: Mla, moe: Moe, arch_of: ArchOf) -> None:
    parts, layout = gather_parts(arch_of(mla, ffn=moe)), Layout(8, dp=8, dp_inside_tp=True)
    serving = make_sglang(None, hopper).serving(parts, layout, Limits(max_num_seqs=64))
    assert (serving.max_num_seqs, serving.max_num_batched_tokens) == (8, 1024)
    assert make_sglang(None, hopper).serving(parts, layout, Limits()).max_num_seqs == 4096


def test_compressed_models_run_fewer_requests(hopper: Accelerator, arch_of: ArchOf) -> None:
    parts = gather_parts(arch_of(Compressed(8, 512, 64, 64, 64, 2, 0, 128)))
    assert make_sglang(None, hopper).serving(parts, Layout(), Limits()).max_num_seqs == 256


def test_budget_and_pool_leave_the_rest_of_the_card(
    hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    engine, view = make_sglang(None, hopper), view_of(arch_of(gqa), hopper, fraction=0.5)
    # Half of 80 GiB less 640 MiB of context.
    assert engine.budget(view) == (80 * GIB - 640 * MIB) // 2
    lines = engine.overheads(view, GIB)
    assert engine.pool(view, GIB, lines) == engine.budget(view) - GIB
    names = [line.name for line in lines]
    assert names == ["activations", "cuda_graphs", "multimodal", "other", "communication", "context"]


def test_images_are_reserved_out_of_the_pool(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    view = view_of(arch_of(gqa, towers=(Tower("vision", 24, 1024, ()),)), hopper, fraction=0.5)
    engine = make_sglang(None, hopper)
    assert engine.pool(view, GIB, engine.overheads(view, GIB)) == engine.budget(view) - GIB - 100 * MIB


def test_buffers_hold_the_slack_of_loading(
    hopper: Accelerator, host: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    assert make_sglang(None, hopper).buffers(view_of(arch_of(gqa), hopper), Weighed({})) == 64 * MIB
    assert make_sglang(None, host).buffers(view_of(arch_of(gqa), host), Weighed({})) == 0


def test_the_rest_of_the_rules(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    engine: SglangEngine = make_sglang(None, hopper)
    arch = arch_of(*[gqa] * 5)
    parts = gather_parts(arch)
    assert engine.stages(5, Layout(pp=2)) == (range(3), range(3, 5))
    assert engine.ends(arch, True, False) == (True, False)
    assert engine.widths(Layout(4)).attention == 4
    assert engine.refusal(parts, Layout(2)) is None
    assert engine.refusal(parts, Layout(3)) is not None
    assert engine.store(arch)(parts.embedding[0], Shard(10, 10, 1)) == 200
    view = view_of(arch, hopper)
    assert engine.plan_pool(view, 2**22).tokens == 2**22 // (5 * 512)
    # The largest tensors of a layer are 512 x 512 of the query and output projections, 2 B each.
    assert engine.load_peak(view, GIB) == GIB + 512 * 512 * 2
