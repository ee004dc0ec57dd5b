from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.stored import compute_dtype, keeps_loaded_scales, make_store, pad_mxfp4, stored_on
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.layout.parts import Piece
from tonnage.layout.shard import Shard
from tonnage.model.arch import Arch
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.quantization.formats import FP8_BLOCK_128, MXFP4, W4A16_G32
from tonnage.model.tensor import Tensor

UP = Tensor("mlp.experts.up_proj", 256, 512, "rows", copies=4, is_expert=True, fused="gate_up_proj")
DOWN = Tensor("mlp.experts.down_proj", 512, 256, "cols", copies=4, is_expert=True)


@pytest.mark.parametrize(
    ("stated", "used"), [("bfloat16", "bfloat16"), ("torch.float16", "float16"), ("float32", "float16")]
)
def test_compute_dtype(stated: str, used: str) -> None:
    assert compute_dtype(stated) == used


def test_plain_tensors_follow_the_model_or_their_own_type(hopper: Accelerator) -> None:
    norm = Piece(Tensor("norm", 512, kind="plain"), None, "plain")
    assert stored_on(hopper, norm, Shard(512, 1, 1), "bfloat16") == 1024
    scale = Piece(Tensor("scale", 512, kind="plain", dtype="float32"), None, "plain")
    assert stored_on(hopper, scale, Shard(512, 1, 1), "bfloat16") == 2048


def test_block_scales_are_counted(hopper: Accelerator) -> None:
    # 256 x 512 bytes and 2 x 4 scales of 4 bytes, four experts.
    assert stored_on(hopper, Piece(UP, FP8_BLOCK_128, "experts"), Shard(256, 512, 4), "bfloat16") == 4 * (131_072 + 32)


@pytest.mark.parametrize(
    ("fixture", "up", "down"),
    [
        ("blackwell", Shard(256, 512, 4), Shard(512, 256, 4)),
        ("instinct", Shard(256, 512, 4), Shard(512, 256, 4)),
        ("hopper", Shard(192, 300, 4), Shard(300, 192, 4)),
    ],
)
def test_fp4_experts_are_padded(request: pytest.FixtureRequest, fixture: str, up: Shard, down: Shard) -> None:
    card = request.getfixturevalue(fixture)
    assert pad_mxfp4(card, Piece(UP, MXFP4, "experts"), Shard(180, 300, 4)) == up
    assert pad_mxfp4(card, Piece(DOWN, MXFP4, "experts"), Shard(300, 180, 4)) == down


def test_rocm_keeps_group_indices_of_packed_experts(hopper: Accelerator, instinct: Accelerator) -> None:
    # 256 x 512 values: 65,536 B, 4,096 scales of 2 B, 8 B of shape; the index of gate and up is shared: 512 x 4 B each.
    up = Piece(UP, W4A16_G32, "experts")
    assert stored_on(hopper, up, Shard(256, 512, 1), "bfloat16") == 65_536 + 8_192 + 8
    assert stored_on(instinct, up, Shard(256, 512, 1), "bfloat16") == 65_536 + 8_192 + 8 + 2_048
    down = Piece(DOWN, W4A16_G32, "experts")
    extra = stored_on(instinct, down, Shard(512, 256, 1), "bfloat16") - stored_on(
        hopper, down, Shard(512, 256, 1), "bfloat16"
    )
    assert extra == 256 * 8


def test_scales_held_twice(hopper: Accelerator, blackwell: Accelerator, gqa: Gqa, arch_of: Callable[..., Arch]) -> None:
    v4 = arch_of(Compressed(8, 512, 64, 64, 64, 2, 4, 128))
    old = Version(0, 5, 13)
    assert keeps_loaded_scales(old, hopper, v4)
    assert not keeps_loaded_scales(old, blackwell, v4)
    assert not keeps_loaded_scales(NEWEST, hopper, v4)
    assert not keeps_loaded_scales(old, hopper, arch_of(gqa))
    # 256 x 512 / 32 scales of 4 bytes.
    piece, shard = Piece(UP, MXFP4, "experts"), Shard(256, 512, 1)
    plain = stored_on(hopper, piece, shard, "bfloat16")
    assert stored_on(hopper, piece, shard, "bfloat16", keeps_scales=True) - plain == 4096 * 4


def test_stores_are_shared(hopper: Accelerator) -> None:
    assert make_store(hopper, "bfloat16", False) is make_store(hopper, "bfloat16", False)
    norm = Piece(Tensor("norm", 512, kind="plain"), None, "plain")
    assert make_store(hopper, "bfloat16", False)(norm, Shard(512, 1, 1)) == 1024
