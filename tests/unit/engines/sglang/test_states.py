from __future__ import annotations

from collections.abc import Callable

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.cache_types import pool_types
from tonnage.engines.sglang.states import StatePool, state_pool
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
# One linear layer of Qwen3-Next: convolution (2 x 2048 + 4096) x 3 x 2 B, state 32 x 128 x 128 x 4 B.
NEXT = DeltaNet(16, 32, 128, 128, 4)
SLOT = 8192 * 3 * 2 + 32 * 128 * 128 * 4


def states(view: RankView, rest: int, version: Version = NEWEST) -> StatePool:
    return state_pool(version, view, pool_types("bfloat16", view.parts.arch, version, view.card).planned, rest)


def test_nine_nineteenths_of_the_rest_are_states(
    hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    view = view_of(arch_of(gqa, NEXT), hopper)
    # 19 x 101 slots: 9 parts hold 909, one of which is padding.
    found = states(view, 19 * 101 * SLOT)
    assert found == StatePool(SLOT, 908, 5)
    assert found.bytes == 909 * SLOT
    assert found.requests == 181


def test_slots_shrink_with_tensor_parallelism(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    # 36 linear layers over four ranks: 19,316,736 B; a log of Qwen3-Next says 52.44 GiB for 2914 of them.
    view = view_of(arch_of(gqa, *[NEXT] * 36), hopper, Layout(4))
    found = states(view, 2**30, Version(0, 5, 4))
    assert found.slot_bytes == 19_316_736
    assert found.slots_per_request == 3
    assert round(StatePool(found.slot_bytes, 2914, 3).bytes / 2**30, 2) == 52.44


def test_models_without_states(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    found = states(view_of(arch_of(gqa), hopper), 2**30)
    assert found.bytes == 0
    assert found.requests is None


def test_nothing_left(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    found = states(view_of(arch_of(gqa, NEXT), hopper), -5)
    assert found.slots == 0
    assert found.requests == 0
