from __future__ import annotations

from collections.abc import Callable

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.loading import load_peak_bytes
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import weigh
from tonnage.model.arch import Arch
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.quantization.formats import FP8_TENSOR
from tonnage.model.quantization.scheme import Rule, Scheme

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]


def byte(_piece: Piece, shard: Shard) -> int:
    return shard.params


def test_the_largest_tensor_comes_on_top(
    hopper: Accelerator, gqa: Gqa, moe: Moe, arch_of: ArchOf, view_of: ViewOf
) -> None:
    # Eight experts of 64 x 512 values.
    assert load_peak_bytes(view_of(arch_of(gqa, ffn=moe), hopper), 10**9, byte) == 10**9 + 8 * 64 * 512


def test_online_quantisation_loads_16_bit_first(
    hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    scheme = Scheme("fp8", (Rule("", FP8_TENSOR),), is_online=True)
    view = view_of(arch_of(gqa, scheme=scheme), hopper)
    assert load_peak_bytes(view, 1000, byte) == 2 * weigh(view, byte).total
    assert load_peak_bytes(view, 10**12, byte) == 10**12
