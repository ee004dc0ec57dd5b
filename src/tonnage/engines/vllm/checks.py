"""Layouts and formats that vLLM refuses, with its reason."""

from __future__ import annotations

from tonnage.engines.vllm.stored import refined
from tonnage.engines.vllm.version import Version
from tonnage.errors import LayoutError, UnsupportedError
from tonnage.kept import kept
from tonnage.layout.shard import cut
from tonnage.layout.tiles import find_uneven, has_tiles
from tonnage.layout.widths import width_of
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.quantization.support import is_supported
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Parts, Piece
    from tonnage.layout.widths import Widths
    from tonnage.model.arch import Arch

# Since this version scales of ragged expert shards are refined instead of refused (read in 0.32; absent in 0.26).
FIRST_WITH_REFINED_TILES = Version(0, 32)
# Vendors whose formats are tabled; the other back ends take most formats in some form.
TABLED = ("nvidia", "amd")
GROUPED = ("int", "pack-int")  # names of the formats whose groups of input features share a scale
LAYOUTS_KEPT = 4096  # of the models of a long batch


@value
class EngineCard:
    """A version of the engine on a card."""

    version: Version
    card: Accelerator


def find_refusal(parts: Parts, layout: Layout, widths: Widths, engine: EngineCard) -> LayoutError | None:
    """The first rule of the engine that the layout or the format breaks; None when it is accepted."""
    return _find_broken(parts, layout, widths, engine.version) or _unsupported(parts.arch, engine.card)


@kept(LAYOUTS_KEPT)
def _find_broken(parts: Parts, layout: Layout, widths: Widths, version: Version) -> LayoutError | None:
    try:
        _check(parts, layout, widths, version)
    except LayoutError as reason:
        return reason
    return None


def _check(parts: Parts, layout: Layout, widths: Widths, version: Version) -> None:
    arch = parts.arch
    _check_heads(arch, layout.tp)
    _check_experts(arch, layout)
    _check_context_parallel(arch, layout)
    for pieces in parts.classes:
        for piece in pieces:
            if piece.format is not None:
                check_tiles(piece, widths, version)
                check_groups(piece, widths)


def _unsupported(arch: Arch, card: Accelerator) -> LayoutError | None:
    if arch.scheme is None or card.target is None or card.vendor not in TABLED:
        return None
    reason = is_supported(arch.scheme.method, card.target)
    return UnsupportedError(arch.scheme.method, f"not on {card.name}", reason) if reason else None


def _check_heads(arch: Arch, tp: int) -> None:
    """vLLM `config/model.py` verify_with_parallel_config."""
    for mixer in arch.mixers:
        if isinstance(mixer, Gqa | Mla | Compressed) and mixer.heads % tp:
            raise LayoutError(
                "tp", tp, f"total number of attention heads ({mixer.heads}) must be divisible by tensor parallel size"
            )


def _check_experts(arch: Arch, layout: Layout) -> None:
    if layout.ep and not arch.has_experts:
        raise LayoutError("ep", "dense model", "expert parallelism needs a model with experts")
    if layout.redundant_experts and not layout.ep:
        raise LayoutError("redundant experts", layout.redundant_experts, "expert load balancing, which needs ep")


def _check_context_parallel(arch: Arch, layout: Layout) -> None:
    """Decode-context parallelism reuses the ranks that hold copies of the cache (vLLM `config/parallel.py`)."""
    if layout.dcp == 1:
        return
    if layout.tp % layout.dcp:
        raise LayoutError("dcp", layout.dcp, f"a divisor of the tensor parallel size {layout.tp}")
    for mixer in arch.mixers:
        if isinstance(mixer, Gqa) and layout.dcp * mixer.kv_heads > layout.tp:
            most = max(1, layout.tp // mixer.kv_heads)
            raise LayoutError("dcp", layout.dcp, f"at most {most}: {mixer.kv_heads} KV heads over {layout.tp} ranks")
        if isinstance(mixer, Gqa) and mixer.heads // mixer.kv_heads % layout.dcp:
            ratio = mixer.heads // mixer.kv_heads
            raise LayoutError("dcp", layout.dcp, f"a divisor of the {ratio} query heads of each KV head")


def check_tiles(piece: Piece, widths: Widths, version: Version) -> None:
    """Raise LayoutError where a block-quantised shard does not hold whole blocks."""
    tile, width = piece.format, width_of(piece.group, widths)
    if tile is None or width == 1 or not has_tiles(tile):
        return
    shard = cut(piece.tensor, width)
    if piece.tensor.is_expert and version >= FIRST_WITH_REFINED_TILES:
        tile = refined(tile, piece.tensor, shard)
    refusal = find_uneven(piece.tensor, shard, tile)
    if refusal is not None:
        raise refusal


def check_groups(piece: Piece, widths: Widths) -> None:
    """Raise LayoutError where a cut would part the input features that share an integer format's scale.

    vLLM `quantization/gptq.py` and `utils/marlin_utils.py` (verify_marlin_supports_shape); the reason why Qwen pads
    29,568 to 29,696 in its 72B builds.
    """
    form, tensor = piece.format, piece.tensor
    if form is None or tensor.split != "cols" or not form.name.startswith(GROUPED) or form.tile_cols <= 1:
        return
    shard = cut(tensor, width_of(piece.group, widths))
    if shard.cols != tensor.cols and shard.cols % form.tile_cols:
        raise LayoutError(
            tensor.name, f"{shard.cols} input features a rank", f"a multiple of the group size {form.tile_cols}"
        )
