"""Layouts and formats that SGLang refuses, with its reason."""

from __future__ import annotations

from tonnage.errors import LayoutError
from tonnage.layout.shard import cut
from tonnage.layout.tiles import find_uneven, has_tiles
from tonnage.layout.widths import width_of
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Parts, Piece
    from tonnage.layout.widths import Widths
    from tonnage.model.arch import Arch


def find_refusal(parts: Parts, layout: Layout, widths: Widths) -> LayoutError | None:
    """The first rule of the engine that the layout breaks; None when it is accepted."""
    found = _layout_refusal(parts.arch, layout) or _heads_refusal(parts.arch, widths.attention)
    if found is not None:
        return found
    pieces = (piece for group in parts.classes for piece in group)
    return next((refusal for piece in pieces if (refusal := _tile_refusal(piece, widths))), None)


def _layout_refusal(arch: Arch, layout: Layout) -> LayoutError | None:
    """SGLang `server_args.py`: data-parallel attention lies inside the group, experts need a mixture."""
    if layout.dp_inside_tp and layout.tp % layout.dp:
        return LayoutError("dp attention", f"dp {layout.dp} in tp {layout.tp}", "a tp size that dp divides")
    if layout.ep and not arch.has_experts:
        return LayoutError("ep", "dense model", "expert parallelism needs a model with experts")
    return None


def _heads_refusal(arch: Arch, ranks: int) -> LayoutError | None:
    heads = {mixer.heads for mixer in arch.mixers if isinstance(mixer, Gqa | Mla | Compressed)}
    odd = next((number for number in sorted(heads) if number % ranks), None)
    if odd is None:
        return None
    return LayoutError("attention tp", ranks, f"a size that divides the {odd} attention heads")


def _tile_refusal(piece: Piece, widths: Widths) -> LayoutError | None:
    tile, width = piece.format, width_of(piece.group, widths)
    if tile is None or width == 1 or not has_tiles(tile):
        return None
    try:
        shard = cut(piece.tensor, width)
    except LayoutError as refusal:
        return refusal
    return find_uneven(piece.tensor, shard, tile)
