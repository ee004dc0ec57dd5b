"""What torch's caching allocator adds to a rank's parameters: loaders log whole blocks, not tensors.

Rules and sizes are those of PyTorch's `c10/cuda/CUDACachingAllocator` (1.13 to 2.9): a tensor of 10 MiB and more gets a
segment of its own, rounded up to 2 MiB, and a rest of up to 1 MiB is not split off.
"""

from __future__ import annotations

from tonnage.kept import kept
from tonnage.layout.division import SETS_KEPT
from tonnage.memory.weights import held_pieces
from tonnage.units import MIB
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.engines.vllm.stored import Keeping
    from tonnage.layout.division import Division
    from tonnage.layout.parts import Piece, Pieces
    from tonnage.layout.shard import Shard
    from tonnage.memory.rank_view import RankView

OWN_SEGMENT_BYTES = 10 * MIB  # kMinLargeAlloc
SEGMENT_ROUNDING_BYTES = 2 * MIB  # kRoundLarge
LARGEST_UNSPLIT_BYTES = 1 * MIB  # kSmallSize
LEAST_ELEMENTS = OWN_SEGMENT_BYTES // 8  # fewer share a segment whatever their type


@value
class Parameter:
    """One tensor as the engine allocates it, and how many times."""

    size: int
    count: int


def slack_bytes(parameters: Iterator[Parameter], is_driver_view: bool) -> int:
    """Bytes lost behind large parameters; the driver also sees the rests that the allocator split off."""
    largest = SEGMENT_ROUNDING_BYTES if is_driver_view else LARGEST_UNSPLIT_BYTES
    total = 0
    for parameter in parameters:
        rest = -parameter.size % SEGMENT_ROUNDING_BYTES
        if parameter.size >= OWN_SEGMENT_BYTES and rest <= largest:
            total += rest * parameter.count
    return total


def rank_slack_bytes(view: RankView, keeping: Keeping, is_driver_view: bool) -> int:
    """Bytes lost behind all large parameters of a rank."""
    division = view.division
    return sum(count * _slack(pieces, division, keeping, is_driver_view) for pieces, count in held_pieces(view))


@kept(SETS_KEPT)
def _slack(pieces: Pieces, division: Division, keeping: Keeping, is_driver_view: bool) -> int:
    return slack_bytes(list_parameters(pieces, division, keeping, LEAST_ELEMENTS), is_driver_view)


def list_parameters(
    pieces: Pieces, division: Division, keeping: Keeping, least_elements: int = 0
) -> Iterator[Parameter]:
    """The parameters of a rank: merged projections and all experts of a layer are one, scales another.

    Left out are those with fewer than `least_elements`, unless they are merged.
    """
    large = [
        (piece, shard)
        for piece, shard in zip(pieces, division.shards(pieces), strict=True)
        if piece.tensor.fused or piece.tensor.is_expert or shard.rows * shard.cols >= least_elements
    ]
    for (_, _, copies), size in _merge(large, keeping).items():
        yield Parameter(size, copies)


def _merge(large: list[tuple[Piece, Shard]], keeping: Keeping) -> dict[tuple[str, bool, int], int]:
    """Bytes by name, whether these are scales, and how many times (copies of an encoder's layer)."""
    sizes: dict[tuple[str, bool, int], int] = {}
    for piece, shard in large:
        copies = 1 if piece.tensor.is_expert else shard.copies
        elements, scales = keeping.split_size(piece, shard)
        name = piece.tensor.name
        name = f"{name.rpartition('.')[0]}.{piece.tensor.fused}" if piece.tensor.fused else name
        for key, size in (((name, False, copies), elements), ((name, True, copies), scales)):
            sizes[key] = sizes.get(key, 0) + size // copies
    return sizes
