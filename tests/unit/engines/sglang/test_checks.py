from __future__ import annotations

from collections.abc import Callable

from tonnage.engines.sglang.checks import find_refusal
from tonnage.engines.sglang.widths import sglang_widths
from tonnage.errors import LayoutError
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.model.arch import Arch
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.quantization.formats import FP8_BLOCK_128
from tonnage.model.quantization.scheme import Rule, Scheme

ArchOf = Callable[..., Arch]
FP8 = Scheme("fp8", (Rule("", FP8_BLOCK_128),))


def refusal(arch: Arch, layout: Layout) -> LayoutError | None:
    return find_refusal(gather_parts(arch), layout, sglang_widths(layout))


def test_what_is_accepted(gqa: Gqa, moe: Moe, arch_of: ArchOf) -> None:
    assert refusal(arch_of(gqa), Layout(8)) is None
    assert refusal(arch_of(gqa, ffn=moe), Layout(8, ep=True)) is None
    assert refusal(arch_of(gqa, scheme=FP8), Layout()) is None


def test_heads_must_divide(gqa: Gqa, arch_of: ArchOf) -> None:
    found = refusal(arch_of(gqa), Layout(3))
    assert found is not None
    assert "8 attention heads" in found.line
    # With attention in three replicas only one rank cuts it.
    assert refusal(arch_of(gqa, ffn=Dense(384)), Layout(3, dp=3, dp_inside_tp=True)) is None


def test_replicas_must_divide_the_group(gqa: Gqa, arch_of: ArchOf) -> None:
    found = refusal(arch_of(gqa), Layout(8, dp=3, dp_inside_tp=True))
    assert found is not None
    assert "dp 3 in tp 8" in found.line


def test_experts_need_a_mixture(gqa: Gqa, arch_of: ArchOf) -> None:
    found = refusal(arch_of(gqa), Layout(8, ep=True))
    assert found is not None
    assert found.thing == "ep"


def test_blocks_must_stay_whole(gqa: Gqa, arch_of: ArchOf) -> None:
    # 256 features over four ranks are 64, half a block.
    found = refusal(arch_of(gqa, ffn=Dense(256), scheme=FP8), Layout(4))
    assert found is not None
    assert "block_n = 128" in found.line or "block_k = 128" in found.line
    wide = Gqa(64, 64, 128, 128)
    narrow = refusal(arch_of(wide, ffn=Dense(1000), scheme=FP8), Layout(8))
    assert narrow is not None
    assert "125 input features" in narrow.line or "125 output features" in narrow.line


def test_pieces_that_do_not_divide_at_all(arch_of: ArchOf) -> None:
    wide = Gqa(64, 64, 128, 128)
    found = refusal(arch_of(wide, ffn=Dense(1001), scheme=FP8), Layout(8))
    assert found is not None
    assert "1001" in found.line
