from __future__ import annotations

from collections.abc import Callable

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.links import communication_line, context_line
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch
from tonnage.model.mixer.gqa import Gqa

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
MIB = 2**20


def test_context_by_vendor(hopper: Accelerator, instinct: Accelerator, host: Accelerator) -> None:
    assert context_line(hopper).bytes == 640 * MIB
    assert context_line(instinct).bytes == 700 * MIB
    assert context_line(host).bytes == 0
    line = context_line(hopper)
    assert line.low < line.bytes < line.high


def test_peers(
    hopper: Accelerator, instinct: Accelerator, bus_card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    arch = arch_of(gqa, gqa)
    assert communication_line(view_of(arch, hopper)).bytes == 0
    assert communication_line(view_of(arch, hopper, Layout(8))).bytes == 7 * 220 * MIB
    assert communication_line(view_of(arch, instinct, Layout(8))).bytes == 7 * 460 * MIB
    assert communication_line(view_of(arch, bus_card, Layout(2))).bytes == 150 * MIB
    # Ranks of other nodes add nothing.
    assert communication_line(view_of(arch, hopper, Layout(8, 2))).bytes == 7 * 220 * MIB


def test_a_cpu_has_no_links(host: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    assert communication_line(view_of(arch_of(gqa), host, Layout(2))).bytes == 0
