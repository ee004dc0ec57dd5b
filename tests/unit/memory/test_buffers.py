"""What stands beside the parameters in every engine."""

from __future__ import annotations

from collections.abc import Callable

from tonnage.layout.layout import Layout
from tonnage.memory.buffers import absorbed_values, table_bytes
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Layer, Rope

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]


def test_tables_in_their_own_type_or_the_engines(make_arch: MakeArch) -> None:
    arch = make_arch(ropes=(Rope(1000, 64), Rope(10, 8, "float32")))
    assert table_bytes(arch, 2) == 1000 * 64 * 2 + 10 * 8 * 4
    assert table_bytes(make_arch(), 2) == 0


def test_absorbed_matrices_of_latent_layers(make_arch: MakeArch, make_view: MakeView, latent_layer: Layer) -> None:
    # 8 heads x latent 32 x (nope 16 + v 16) in each of two layers; halved over two ranks.
    arch = make_arch(latent_layer, latent_layer)
    assert absorbed_values(make_view(arch)) == 2 * 8 * 32 * 32
    assert absorbed_values(make_view(arch, Layout(tp=2))) == 8 * 32 * 32
    assert absorbed_values(make_view(make_arch())) == 0
