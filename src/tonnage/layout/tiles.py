"""Block-quantised matrices must be cut between their scale blocks."""

from __future__ import annotations

from tonnage.errors import LayoutError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.shard import Shard
    from tonnage.model.quantization.scheme import Format
    from tonnage.model.tensor import Tensor


def has_tiles(form: Format | None) -> bool:
    """Whether one scale stands for a block of rows and columns."""
    return form is not None and form.tile_rows > 1 and form.tile_cols > 1


def find_uneven(tensor: Tensor, shard: Shard, form: Format) -> LayoutError | None:
    """Why a shard that does not hold whole blocks along the axis that is divided is refused; None where it does.

    In the words of the engines (vLLM and SGLang `quantization/utils/fp8_utils.py`).
    """
    if tensor.split in ("rows", "kv") and shard.rows % form.tile_rows:
        seen, block = f"{shard.rows} output features a rank", f"block_n = {form.tile_rows}"
    elif tensor.split == "cols" and shard.cols % form.tile_cols:
        seen, block = f"{shard.cols} input features a rank", f"block_k = {form.tile_cols}"
    else:
        return None
    return LayoutError(tensor.name, seen, f"a multiple of the weight quantization {block}")
