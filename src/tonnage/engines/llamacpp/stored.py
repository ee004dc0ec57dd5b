"""Bytes of a tensor on a device: GGUF keeps vectors, routers and states in 32 bit."""

from __future__ import annotations

from tonnage.kept import kept
from tonnage.model.dtypes import FLOAT32_BYTES, element_bytes
from tonnage.model.quantization.formats import stored_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.parts import Piece
    from tonnage.layout.shard import Shard
    from tonnage.memory.weights import Store

TYPES_KEPT = 64  # more than there are


@kept(TYPES_KEPT)
def make_store(dtype: str) -> Store:
    """Gives the bytes of a tensor; the same function for the same type, so that sizes are computed once."""

    def stored(piece: Piece, shard: Shard) -> int:
        return stored_piece(piece, shard, dtype)

    return stored


def stored_piece(piece: Piece, shard: Shard, dtype: str) -> int:
    """Bytes of `shard`; `dtype` is the type of matrices that are not quantised.

    An encoder comes from a file of its own and counts nothing here.
    """
    tensor = piece.tensor
    if piece.group == "tower":
        return 0
    # Other engines pad the vocabulary, GGUF does not.
    rows = min(shard.rows, tensor.rows)
    if piece.format is not None:
        return shard.copies * stored_bytes(piece.format, rows, shard.cols)
    wide = FLOAT32_BYTES if tensor.kind == "plain" else element_bytes(tensor.dtype or dtype)
    return shard.copies * rows * shard.cols * wide
