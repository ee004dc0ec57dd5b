from __future__ import annotations

from collections.abc import Callable

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.buffers import absorbed_bytes, fused_shared_bytes, rope_bytes
from tonnage.engines.sglang.version import Version
from tonnage.layout.layout import Layout
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Rope
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.quantization.formats import FP8_BLOCK_128
from tonnage.model.quantization.scheme import Rule, Scheme
from tonnage.value import replace

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
FP8 = Scheme("fp8", (Rule("", FP8_BLOCK_128),))


def half(_piece: Piece, shard: Shard) -> int:
    return shard.params * 2


def test_rotary_tables_are_wide_on_cuda(
    hopper: Accelerator, instinct: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    arch = arch_of(gqa, ropes=(Rope(1000, 64), Rope(10, 8, "float32")))
    assert rope_bytes(view_of(arch, hopper)) == 1000 * 64 * 4 + 10 * 8 * 4
    assert rope_bytes(view_of(arch, instinct)) == 1000 * 64 * 2 + 10 * 8 * 4


def test_absorbed_projections(
    hopper: Accelerator, instinct: Accelerator, mla: Mla, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    # Two layers of 16 heads x 512 x (128 + 128) values over two ranks.
    values = 2 * 8 * 512 * 256
    quantised = arch_of(mla, mla, scheme=FP8)
    assert absorbed_bytes(view_of(quantised, hopper, Layout(2))) == 2 * values
    assert absorbed_bytes(view_of(quantised, instinct, Layout(2))) == values
    assert absorbed_bytes(view_of(arch_of(mla, mla), instinct, Layout(2))) == 2 * values
    assert absorbed_bytes(view_of(arch_of(gqa), hopper)) == 0


def test_old_versions_hold_a_whole_shared_expert(
    hopper: Accelerator, bus_card: Accelerator, mla: Mla, moe: Moe, arch_of: ArchOf, view_of: ViewOf
) -> None:
    arch = arch_of(mla, ffn=replace(moe, experts=256))
    old, view = Version(0, 4, 6), view_of(arch, hopper, Layout(2))
    # Shared expert: 3 x 64 x 512 values of 2 B; half of them are there already.
    assert fused_shared_bytes(old, view, half) == 3 * 64 * 512 * 2 // 2
    assert fused_shared_bytes(Version(0, 4, 7), view, half) == 0
    assert fused_shared_bytes(old, view_of(arch, bus_card, Layout(2)), half) == 0
    assert fused_shared_bytes(old, view_of(arch, hopper, Layout(2, ep=True)), half) == 0
    assert fused_shared_bytes(old, view_of(arch_of(mla, ffn=moe), hopper, Layout(2)), half) == 0
