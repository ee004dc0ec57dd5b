"""What lies between tensors in torch's blocks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.allocator import Parameter, list_parameters, rank_slack_bytes, slack_bytes
from tonnage.engines.vllm.stored import keeping_of
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import held_pieces
from tonnage.model.arch import Arch, Layer
from tonnage.model.quantization.formats import FP8_CHANNEL
from tonnage.model.quantization.scheme import Rule, Scheme

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]
MakeView = Callable[..., RankView]

MIB = 2**20


@pytest.mark.parametrize(
    ("size", "seen_by_torch", "seen_by_driver"),
    [
        # Small tensors share segments.
        (9 * MIB, 0, 0),
        # Whole blocks of 2 MiB have no rest.
        (12 * MIB, 0, 0),
        # 11 MiB take 12: a rest of 1 MiB is not split off.
        (11 * MIB, MIB, MIB),
        # A larger rest serves other tensors; only the driver sees it.
        (11 * MIB - 1, 0, MIB + 1),
        (12 * MIB + 1, 0, 2 * MIB - 1),
        (12 * MIB - 1, 1, 1),
    ],
)
def test_rests(size: int, seen_by_torch: int, seen_by_driver: int) -> None:
    assert slack_bytes(iter([Parameter(size, 1)]), is_driver_view=False) == seen_by_torch
    assert slack_bytes(iter([Parameter(size, 1)]), is_driver_view=True) == seen_by_driver


def test_every_copy_has_its_rest() -> None:
    assert slack_bytes(iter([Parameter(11 * MIB, 3), Parameter(12 * MIB - 8, 2)]), is_driver_view=False) == (
        3 * MIB + 16
    )
    assert slack_bytes(iter([]), is_driver_view=True) == 0


def sizes(view: RankView, card: Accelerator) -> list[int]:
    """Sizes of all parameters that are no scalars or norms, largest first."""
    keeping = keeping_of(view.parts.arch, card)
    found = [
        parameter.size
        for pieces, count in held_pieces(view)
        for parameter in list_parameters(pieces, view.division, keeping)
        for _ in range(count * parameter.count)
    ]
    return sorted((size for size in found if size > 128), reverse=True)


def test_merged_projections_are_one_parameter(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, dense_layer: Layer
) -> None:
    # Tables of 1,024 x 64 x 2 B; gate and up 256 x 64, q, k and v 256 x 64, down and o 128 x 64 each.
    view = make_view(make_arch(dense_layer))
    assert sizes(view, make_card()) == [131_072, 131_072, 32_768, 32_768, 16_384, 16_384]


def test_all_experts_of_a_layer_are_one_parameter(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, mixture_layer: Layer
) -> None:
    # Two of eight experts: gate and up 2 x 64 x 64 x 2 B, down 2 x 64 x 32 x 2 B. Shared: 64 x 64 and 64 x 32.
    # The tables; q, k and v; o; and the router of 8 x 64.
    view = make_view(make_arch(mixture_layer), Layout(dp=4, ep=True))
    assert sizes(view, make_card()) == [131_072, 131_072, 32_768, 16_384, 16_384, 8_192, 8_192, 4_096, 1_024]


def test_scales_are_parameters_of_their_own(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, dense_layer: Layer
) -> None:
    # q, k and v in fp8: 256 x 64 B and 256 scales of 4 B; o 64 x 128 B and 64 scales. The rest in 16 bits.
    rules = (Rule("", FP8_CHANNEL, ("layers.*.self_attn",)), Rule("", None))
    view = make_view(make_arch(dense_layer, scheme=Scheme("compressed-tensors", rules)))
    assert sizes(view, make_card()) == [131_072, 131_072, 32_768, 16_384, 16_384, 8_192, 1_024, 256]


def test_a_rank_adds_up_its_rests(make_arch: MakeArch, make_card: MakeCard, make_view: MakeView) -> None:
    # Embedding and head of 90,112 x 64 x 2 B = 11 MiB: 1 MiB each behind them, nothing behind the small layers.
    view = make_view(make_arch(vocab=90_112))
    keeping = keeping_of(view.parts.arch, make_card())
    assert rank_slack_bytes(view, keeping, is_driver_view=False) == 2 * MIB
    assert rank_slack_bytes(make_view(make_arch()), keeping, is_driver_view=True) == 0
