"""Captured graphs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.engines.vllm.graphs import LAYER_SIZE_BYTES, capture_sizes, graph_line
from tonnage.engines.vllm.version import Version
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.memory.serving import Serving
from tonnage.model.arch import Arch, Layer

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]


def serving(seqs: int, tokens: int = 8192) -> Serving:
    """Limits of one step."""
    return Serving(4096, seqs, tokens, 0.9, "bfloat16")


@pytest.mark.parametrize(
    ("version", "seqs", "target", "count"),
    [
        # V0: 1, 2, 4 and 8 to 256 by 8, bounded by the requests.
        (Version(0, 6, 6), 256, "sm_90", 35),
        (Version(0, 6, 6), 1024, "sm_90", 35),
        (Version(0, 6, 6), 64, "sm_90", 3 + 8),
        (Version(0, 6, 6), 3, "sm_90", 3),
        (Version(0, 7), 1, "sm_90", 1),
        # V1: 1, 2, 4 and 8 to 512 by 8.
        (Version(0, 8, 5), 1024, "sm_90", 67),
        (Version(0, 8, 5), 16, "sm_90", 67),
        (Version(0, 10, 2), 256, "sm_80", 67),
        # From 0.11 at most twice the requests.
        (Version(0, 11), 1024, "sm_90", 67),
        (Version(0, 11), 64, "sm_90", 3 + 16),
        # From 0.14 steps of 16 above 256: 3 + 31 + 17.
        (Version(0, 14), 1024, "sm_90", 51),
        (Version(0, 27), 256, "sm_100", 51),
        (Version(0, 27), 128, "sm_90", 3 + 31 + 1),
        (Version(0, 27), 64, "sm_90", 3 + 16),
        (Version(0, 27), 4, "sm_90", 4),
        (Version(0, 27), 1, "sm_90", 2),
        # From 0.28 to 1,024 on data-centre Blackwell: 3 + 31 + 49.
        (Version(0, 28), 1024, "sm_100", 83),
        (Version(0, 33), 1024, "sm_103", 83),
        (Version(0, 33), 1024, "sm_120", 51),
        (Version(0, 33), 1024, "sm_90", 51),
        (Version(0, 33), 1024, "gfx950", 51),
    ],
)
def test_number_of_sizes(version: Version, seqs: int, target: str, count: int) -> None:
    assert len(capture_sizes(version, serving(seqs), target)) == count


def test_sizes_around_the_change_of_step() -> None:
    sizes = sorted(capture_sizes(Version(0, 14), serving(144), "sm_90"))
    assert sizes[:5] == [1, 2, 4, 8, 16]
    assert sizes[-5:] == [240, 248, 256, 272, 288]


def test_no_size_exceeds_the_tokens_of_a_step() -> None:
    # 1, 2, 4 and 8 to 96 by 8; 100 itself is captured from 0.28 on.
    assert len(capture_sizes(Version(0, 27), serving(256, 100), "sm_90")) == 15
    assert max(capture_sizes(Version(0, 27), serving(256, 100), "sm_90")) == 96
    assert max(capture_sizes(Version(0, 28), serving(256, 100), "sm_90")) == 100
    assert len(capture_sizes(Version(0, 28), serving(256, 96), "sm_90")) == 15


def test_a_line_for_the_layers_of_the_rank(make_arch: MakeArch, make_view: MakeView, dense_layer: Layer) -> None:
    view = make_view(make_arch(*[dense_layer] * 80), Layout(pp=2), layers=range(40), max_num_seqs=1024)
    line = graph_line(view, Version(0, 19))
    assert line.bytes == 51 * 40 * LAYER_SIZE_BYTES
    assert line.low < line.bytes < line.high
    assert (line.name, line.basis) == ("cuda_graphs", "assumed")
    assert "51 captured sizes x 40 layers" in line.trace


def test_the_first_graph_costs_more(make_arch: MakeArch, make_view: MakeView) -> None:
    # 2 sizes x 4 layers x 0.45 MB are far below what the pool and the workspaces take.
    line = graph_line(make_view(make_arch(), max_num_seqs=1), Version(0, 24))
    assert line.bytes == 450 * 2**20


def test_eager_runs_capture_nothing(make_arch: MakeArch, make_view: MakeView) -> None:
    line = graph_line(make_view(make_arch(), eager=True), Version(0, 33))
    assert (line.bytes, line.low, line.high) == (0, 0, 0)
    assert "eager" in line.trace
