"""Tensors of gated DeltaNet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.shard import cut
from tonnage.model.mixer.deltanet import DeltaNet, deltanet_tensors
from tonnage.model.tensor import Tensor

QWEN3_5_27B = DeltaNet(key_heads=16, value_heads=48, key_dim=128, value_dim=128, kernel=4)


def by_name(mixer: DeltaNet, hidden: int = 5120) -> dict[str, Tensor]:
    return {tensor.name.removeprefix("linear_attn."): tensor for tensor in deltanet_tensors(mixer, hidden)}


def test_parameters_of_qwen3_5_27b() -> None:
    # K = 16 x 128 = 2048, V = 48 x 128 = 6144
    # in 5120 (2 K + 2 V + 2 x 48) + conv (2 K + V) 4 + 2 x 48 + norm 128 + out V 5120
    # = 84,377,600 + 40,960 + 96 + 128 + 31,457,280
    assert sum(tensor.params for tensor in deltanet_tensors(QWEN3_5_27B, 5120)) == 115_876_064


def test_widths_of_all_heads() -> None:
    assert (QWEN3_5_27B.keys, QWEN3_5_27B.values) == (2048, 6144)


def test_merged_projections_hold_the_same_parameters() -> None:
    merged = replace(QWEN3_5_27B, merged=True)
    tensors = by_name(merged)
    assert tensors["in_proj_qkvz"].rows == 2 * 2048 + 2 * 6144
    assert tensors["in_proj_ba"].rows == 2 * 48
    assert "in_proj_qkv" not in tensors
    assert sum(t.params for t in tensors.values()) == sum(t.params for t in by_name(QWEN3_5_27B).values())


def test_projections_name_the_matrix_they_are_merged_into() -> None:
    tensors = by_name(QWEN3_5_27B)
    assert [tensors[name].fused for name in ("in_proj_qkv", "in_proj_z")] == ["in_proj_qkvz"] * 2
    assert [tensors[name].fused for name in ("in_proj_a", "in_proj_b")] == ["in_proj_ba"] * 2


def test_shards_over_eight_ranks() -> None:
    shards = {name: cut(tensor, 8) for name, tensor in by_name(QWEN3_5_27B).items()}
    # What vLLM 0.32 creates: qkvz 2048 x 5120, ba 12 x 5120, conv 1280 x 4, out 5120 x 768.
    assert shards["in_proj_qkv"].rows + shards["in_proj_z"].rows == 2048
    assert shards["in_proj_a"].rows + shards["in_proj_b"].rows == 12
    assert (shards["conv1d"].rows, shards["conv1d"].cols) == (1280, 4)
    assert (shards["A_log"].rows, shards["dt_bias"].rows, shards["norm"].rows) == (6, 6, 128)
    assert (shards["out_proj"].rows, shards["out_proj"].cols) == (5120, 768)


def test_only_the_decay_is_32_bits_wide() -> None:
    assert {name for name, tensor in by_name(QWEN3_5_27B).items() if tensor.dtype == "float32"} == {"A_log"}


def test_ranks_must_divide_the_key_heads() -> None:
    with pytest.raises(LayoutError, match="16 pieces over 32 ranks"):
        cut(by_name(QWEN3_5_27B)["in_proj_qkv"], 32)
