"""Block-quantised shards."""

import pytest

from tonnage.layout.shard import Shard, cut
from tonnage.layout.tiles import find_uneven, has_tiles
from tonnage.model.quantization.formats import FP8_BLOCK_128, FP8_CHANNEL
from tonnage.model.tensor import Tensor

# An expert of Qwen3-235B-A22B: inner width 1536.
GATE = Tensor("mlp.experts.gate_proj", 1536, 4096, "rows", copies=128, is_expert=True)
DOWN = Tensor("mlp.experts.down_proj", 4096, 1536, "cols", copies=128, is_expert=True)


@pytest.mark.parametrize(("tensor", "block"), [(GATE, "block_n = 128"), (DOWN, "block_k = 128")])
def test_a_fraction_of_a_block_is_refused(tensor: Tensor, block: str) -> None:
    # 1536 / 8 = 192 = 1.5 blocks of 128.
    refusal = find_uneven(tensor, cut(tensor, 8), FP8_BLOCK_128)
    assert refusal is not None
    assert "192" in refusal.line
    assert block in refusal.line


@pytest.mark.parametrize("tensor", [GATE, DOWN])
def test_whole_blocks_pass(tensor: Tensor) -> None:
    # 1536 / 4 = 384 = 3 blocks.
    assert find_uneven(tensor, cut(tensor, 4), FP8_BLOCK_128) is None


def test_an_axis_that_is_not_divided_may_be_ragged() -> None:
    assert find_uneven(Tensor("a", 128, 200, "rows"), Shard(128, 200, 1), FP8_BLOCK_128) is None
    assert find_uneven(Tensor("a", 200, 200), Shard(200, 200, 1), FP8_BLOCK_128) is None


def test_only_two_dimensional_tiles_matter() -> None:
    assert has_tiles(FP8_BLOCK_128)
    assert not has_tiles(FP8_CHANNEL)
    assert not has_tiles(None)
