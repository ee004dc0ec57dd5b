from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.cache_types import pool_types
from tonnage.engines.sglang.cell import Cell, cell_of
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.value import replace

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]


def cell(view: RankView, dtype: str = "bfloat16", version: Version = NEWEST) -> Cell:
    return cell_of(version, view, pool_types(dtype, view.parts.arch, version, view.card).planned)


def test_grouped_attention(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    # Three layers of 2 KV heads x (64 + 64) values x 2 B; each rank keeps one head at least.
    arch = arch_of(gqa, gqa, gqa)
    assert cell(view_of(arch, hopper)) == Cell(3 * 2 * 128 * 2)
    assert cell(view_of(arch, hopper, Layout(2))) == Cell(3 * 128 * 2)
    assert cell(view_of(arch, hopper, Layout(8))) == Cell(3 * 128 * 2)
    assert cell(view_of(arch, hopper, Layout(8, dp=8, dp_inside_tp=True))) == Cell(3 * 2 * 128 * 2)
    assert cell(view_of(arch, hopper), "fp8_e4m3") == Cell(3 * 2 * 128)


def test_latent_attention_is_whole_on_every_rank(
    hopper: Accelerator, mla: Mla, sparse_mla: Mla, arch_of: ArchOf, view_of: ViewOf
) -> None:
    assert cell(view_of(arch_of(mla, mla), hopper, Layout(8))) == Cell(2 * 576 * 2)
    # 656 B of packed row and 132 B of selector key.
    assert cell(view_of(arch_of(sparse_mla), hopper), "fp8_e4m3") == Cell(656 + 132)
    assert cell(view_of(arch_of(sparse_mla), hopper)) == Cell(576 * 2 + 132)


def test_window_layers_get_a_smaller_pool(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    window = replace(gqa, window=1024)
    arch = arch_of(gqa, window, architectures=("GptOssForCausalLM",))
    # 512 B of full cache and 0.8 x 512 B of window cache.
    assert cell(view_of(arch, hopper)) == Cell(10 * 512 + 8 * 512, 10)
    assert cell(view_of(arch, hopper), version=Version(0, 4, 8)) == Cell(1024)
    assert cell(view_of(replace(arch, architectures=("Gemma2ForCausalLM",)), hopper)) == Cell(1024)
    only = arch_of(window, window, architectures=("GptOssForCausalLM",))
    assert cell(view_of(only, hopper)) == Cell(1024)


def test_layers_that_read_another_cache_still_have_room(
    hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    assert cell(view_of(arch_of(gqa, replace(gqa, kv_from_layer=0)), hopper)) == Cell(2 * 512)


def test_states_do_not_grow(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    assert cell(view_of(arch_of(gqa, DeltaNet(4, 4, 64, 64, 4)), hopper)) == Cell(512)


def test_compressed_attention(hopper: Accelerator, arch_of: ArchOf, view_of: ViewOf) -> None:
    view = view_of(arch_of(Compressed(8, 512, 64, 64, 64, 2, 0, 128)), hopper)
    # A tenth of the tokens keep their 584 B.
    assert cell(view, "fp8_e4m3") == Cell(128 * 584, 1280)


@pytest.mark.parametrize(
    ("pool", "page", "tokens"), [(1000, 1, 100), (1009, 1, 100), (1009, 64, 64), (630, 64, 0), (-5, 1, 0)]
)
def test_tokens_of_a_pool(pool: int, page: int, tokens: int) -> None:
    assert Cell(10).tokens(pool, page) == tokens


def test_fractions_and_fixed_parts() -> None:
    uneven = Cell(25, 10, 100)
    assert uneven.tokens(350, 1) == 100
    assert uneven.bytes(100) == 350
    assert uneven.bytes(1) == 103
    assert Cell(0).tokens(1000, 1) == 0
