"""Collective libraries and the driver's context."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.links import (
    CONTEXT_BYTES,
    CONTEXT_BYTES_AMD,
    CONTEXT_BYTES_UNIFIED,
    PCIE_BYTES,
    SWITCH_BYTES,
    SWITCH_BYTES_PER_PEER,
    communication_line,
    context_line,
)
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]
MakeView = Callable[..., RankView]

MIB = 2**20


def test_context_by_vendor(make_card: MakeCard) -> None:
    assert context_line(make_card()).bytes == CONTEXT_BYTES
    assert context_line(make_card("amd", "gfx942")).bytes == CONTEXT_BYTES_AMD
    assert context_line(make_card(is_unified_memory=True)).bytes == CONTEXT_BYTES_UNIFIED
    # Published: 0.16 to 0.35 GiB on one NVIDIA card.
    assert 160 * MIB <= CONTEXT_BYTES <= 360 * MIB


def test_a_host_has_no_device_context(make_card: MakeCard) -> None:
    line = context_line(make_card("host", None))
    assert (line.bytes, line.high, line.basis) == (0, 0, "derived")


@pytest.mark.parametrize("layout", [Layout(), Layout(tp=1, pp=1)])
def test_one_rank_does_not_communicate(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, layout: Layout
) -> None:
    line = communication_line(make_view(make_arch(), layout, make_card(topology="switch")))
    assert (line.bytes, line.trace) == (0, "one rank")


@pytest.mark.parametrize(
    ("layout", "peers"),
    [
        (Layout(tp=2), 1),
        (Layout(tp=8), 7),
        (Layout(dp=8, ep=True), 7),
        # A stage of one rank has its neighbours.
        (Layout(pp=4), 1),
        (Layout(tp=4, pp=2), 4),
        # No more peers than a node of eight joins over fast links.
        (Layout(tp=16), 7),
    ],
)
@pytest.mark.parametrize("topology", ["switch", "mesh"])
def test_fast_links(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, layout: Layout, peers: int, topology: str
) -> None:
    line = communication_line(make_view(make_arch(), layout, make_card(topology=topology)))
    assert line.bytes == SWITCH_BYTES + peers * SWITCH_BYTES_PER_PEER
    assert line.low < line.bytes < line.high


def test_a_node_of_unknown_size_joins_all_ranks(make_arch: MakeArch, make_card: MakeCard, make_view: MakeView) -> None:
    card = make_card(topology="switch", cards_per_node=None)
    assert communication_line(make_view(make_arch(), Layout(tp=4), card)).bytes == (
        SWITCH_BYTES + 3 * SWITCH_BYTES_PER_PEER
    )


@pytest.mark.parametrize("topology", [None, "bus", "pairs"])
@pytest.mark.parametrize("tp", [2, 8])
def test_over_pcie_the_number_of_cards_does_not_matter(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, topology: str | None, tp: int
) -> None:
    line = communication_line(make_view(make_arch(), Layout(tp=tp), make_card(topology=topology)))
    assert line.bytes == PCIE_BYTES
    assert "PCIe" in line.trace
    # Published: 0.20 to 0.25 GiB on 3090 and 4090.
    assert 200 * MIB <= PCIE_BYTES <= 256 * MIB


def test_hosts_share_memory(make_arch: MakeArch, make_card: MakeCard, make_view: MakeView) -> None:
    assert communication_line(make_view(make_arch(), Layout(tp=2), make_card("host", None))).bytes == 0
