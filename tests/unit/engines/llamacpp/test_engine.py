from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.llamacpp.engine import make_llamacpp
from tonnage.errors import UsageError
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.layout.shard import Shard
from tonnage.memory.engine import Engine, Limits
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import Weighed
from tonnage.model.arch import Arch, Tower
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.tensor import Tensor

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
GIB, MIB = 2**30, 2**20


def test_it_is_an_engine(card: Accelerator) -> None:
    engine: Engine = make_llamacpp("b6900", card)
    assert (engine.name, engine.version, engine.notes) == ("llamacpp", "b6900", ())
    assert make_llamacpp("llama.cpp", card).notes
    with pytest.raises(UsageError):
        make_llamacpp("banana", card)


def test_defaults(card: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    serving = make_llamacpp(None, card).serving(gather_parts(arch_of(gqa)), Layout(), Limits())
    assert (serving.max_model_len, serving.max_num_seqs, serving.max_num_batched_tokens) == (32768, 4, 512)
    assert (serving.kv_dtype, serving.fraction) == ("f16", None)
    old = make_llamacpp("b6000", card).serving(gather_parts(arch_of(gqa)), Layout(), Limits())
    assert old.max_num_seqs == 1


def test_what_was_asked_stays(card: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    asked = Limits(4096, 2, 1024, 0.9, "q8_0", None, False, 5 * GIB, GIB, 6)
    serving = make_llamacpp(None, card).serving(gather_parts(arch_of(gqa)), Layout(), asked)
    # Six requests at once need six slots.
    assert (serving.max_model_len, serving.max_num_seqs, serving.max_num_batched_tokens) == (4096, 6, 1024)
    assert (serving.kv_dtype, serving.kv_bytes, serving.offload_bytes) == ("q8_0", 5 * GIB, GIB)


def test_budgets(card: Accelerator, host: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    view = view_of(arch_of(gqa), card)
    assert make_llamacpp(None, card).budget(view) == 23 * GIB
    assert make_llamacpp("b5450", card).budget(view) == 24 * GIB
    assert make_llamacpp("ik_llama.cpp", card).budget(view) == 24 * GIB
    assert make_llamacpp(None, card).budget(view_of(arch_of(gqa), card, fraction=0.5)) == 12 * GIB
    assert make_llamacpp(None, host).budget(view_of(arch_of(gqa), host)) == 64 * GIB


def test_the_pool_is_what_is_left(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    engine, view = make_llamacpp(None, card), view_of(arch_of(gqa), card)
    lines = engine.overheads(view, GIB)
    assert [line.name for line in lines] == ["activations", "multimodal", "context"]
    assert engine.pool(view, GIB, lines) == 22 * GIB - sum(line.bytes for line in lines)
    assert engine.plan_pool(view, GIB).tokens == 4096
    assert engine.load_peak(view, GIB) == GIB


def test_encoders_stand_on_the_first_device(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    arch = arch_of(gqa, gqa, gqa, towers=(Tower("vision", 1, 8, (Tensor("visual.a", 8, 8),)),))
    engine = make_llamacpp(None, card)
    sizes = [engine.overheads(view_of(arch, card, 2, device), 0)[1].bytes for device in (0, 1)]
    assert sizes == [128, 0]


def test_embeddings_stay_with_the_host(
    card: Accelerator, host: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    engine = make_llamacpp(None, card)
    assert engine.host_groups == {"embedding", "lookup"}
    assert make_llamacpp(None, host).host_groups == frozenset()
    weighed = Weighed({"embedding": 1000})
    assert engine.buffers(view_of(arch_of(gqa), card), weighed) == 0
    # A tied one is copied to the device as output head.
    tied = arch_of(gqa, tied=True)
    assert engine.buffers(view_of(tied, card), weighed) == 1000
    assert make_llamacpp(None, host).buffers(view_of(tied, host), weighed) == 0


def test_the_rest_of_the_rules(card: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    engine, arch = make_llamacpp(None, card), arch_of(*[gqa] * 5)
    assert engine.stages(5, Layout(pp=2)) == (range(3), range(3, 5))
    assert engine.ends(arch, True, False) == (True, False)
    assert engine.widths(Layout(pp=2)).attention == 1
    assert engine.refusal(gather_parts(arch), Layout(pp=2)) is None
    parts = gather_parts(arch)
    assert engine.store(arch)(parts.embedding[0], Shard(1000, 512, 1)) == 1000 * 512 * 2
