"""Tensors of Kimi delta attention."""

from __future__ import annotations

from tonnage.layout.shard import cut
from tonnage.model.mixer.kda import FUSED, Kda, kda_tensors
from tonnage.model.tensor import Tensor

K3 = Kda(heads=96, head_dim=128, kernel=4, full_rank_gate=True)
LINEAR = Kda(heads=32, head_dim=128, kernel=4)


def by_name(mixer: Kda, hidden: int) -> dict[str, Tensor]:
    return {tensor.name.removeprefix("self_attn."): tensor for tensor in kda_tensors(mixer, hidden)}


def test_parameters_of_kimi_k3() -> None:
    # P = 96 x 128 = 12,288: 4 h P + gate h P + 3 P 4 + decay (h + P) 128 + beta 96 h + 96 + P + 128
    # = 352,321,536 + 88,080,384 + 147,456 + 2,490,368 + 688,128 + 12,512
    assert sum(tensor.params for tensor in kda_tensors(K3, 7168)) == 443_740_384


def test_parameters_of_kimi_linear() -> None:
    # P = 4096, h = 2304; the gate has a low rank like the decay: 2 x (h + P) 128
    # = 37,748,736 + 2 x 819,200 + 49,152 + 73,728 + 4,256
    assert sum(tensor.params for tensor in kda_tensors(LINEAR, 2304)) == 39_514_272


def test_gate_of_either_rank() -> None:
    full, low = by_name(K3, 7168), by_name(LINEAR, 2304)
    assert full["g_proj"].fused == FUSED
    assert "g_a_proj" not in full
    assert (low["g_a_proj"].split, low["g_b_proj"].split) == ("none", "rows")
    assert "g_proj" not in low


def test_shards_over_eight_ranks() -> None:
    tensors = by_name(K3, 7168)
    shards = {name: cut(tensor, 8) for name, tensor in tensors.items()}
    merged = sum(shards[name].rows for name, tensor in tensors.items() if tensor.fused == FUSED)
    # 4 x 12,288 / 8 + decay 128, whole on each rank, + beta 96 / 8; vLLM rounds the sum up to a multiple of 16.
    assert merged == 4 * 1536 + 128 + 12
    assert (shards["dt_bias"].rows, shards["A_log"].rows, shards["o_norm"].rows) == (1536, 12, 128)
    assert sum(shards[f"{part}_conv1d"].rows for part in "qkv") == 4608


def test_what_is_32_bits_wide() -> None:
    wide = {name for name, tensor in by_name(K3, 7168).items() if tensor.dtype == "float32"}
    assert wide == {"q_conv1d", "k_conv1d", "v_conv1d", "A_log", "dt_bias"}
