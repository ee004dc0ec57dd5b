from __future__ import annotations

from collections.abc import Callable

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.run_time import activation_line, graph_line, places_line, vision_line
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Tower
from tonnage.model.mixer.gqa import Gqa

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
# Per token: attention 512 + 2 x 512 + 2 x 128 values = 1,792; feed-forward 3 x (128 + 512) = 1,920 is more. 2 B each.
TOKEN = 3840


def test_activations_of_a_chunk(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    line = activation_line(view_of(arch_of(gqa), hopper, max_num_batched_tokens=1000))
    assert line.bytes == 1000 * TOKEN
    assert line.low < line.bytes < line.high


def test_graphs_of_decode_and_prefill(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    view = view_of(arch_of(gqa), hopper, max_num_batched_tokens=1000)
    # 39 decode sizes up to 256 in one layer; two working sets of a prefill of 1,000 tokens.
    assert graph_line(NEWEST, view).bytes == 39 * 300_000 + 2 * 1000 * TOKEN
    assert graph_line(Version(0, 5, 3), view).bytes == 39 * 300_000
    assert graph_line(NEWEST, view_of(arch_of(gqa), hopper, eager=True)).bytes == 0


def test_no_graphs_on_a_cpu(host: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    assert graph_line(NEWEST, view_of(arch_of(gqa), host)).bytes == 0


def test_table_of_places() -> None:
    # 4096 x 262,144 x 4 B = 4.0 GiB, as seen with Kimi K2.5, and one slot more.
    assert places_line(4096, 262_144).bytes == 4097 * 262_148 * 4


def test_image_cache(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    seeing = arch_of(gqa, towers=(Tower("vision", 24, 1024, ()),))
    assert vision_line(NEWEST, view_of(seeing, hopper)).bytes == 100 * 2**20
    assert vision_line(Version(0, 5, 10), view_of(seeing, hopper)).bytes == 0
    assert vision_line(NEWEST, view_of(arch_of(gqa), hopper)).bytes == 0
