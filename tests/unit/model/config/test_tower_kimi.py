"""Vision tower of Kimi K2.5 and K3."""

from __future__ import annotations

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.layout.shard import cut
from tonnage.model.arch import Tower
from tonnage.model.config.keys import Config
from tonnage.model.config.tower_kimi import kimi_tower

K2_5: dict[str, object] = {
    "init_pos_emb_height": 64,
    "init_pos_emb_width": 64,
    "merge_kernel_size": [2, 2],
    "mm_projector_type": "patchmerger",
    "patch_size": 14,
    "text_hidden_size": 7168,
    "vt_hidden_size": 1152,
    "vt_intermediate_size": 4304,
    "vt_num_attention_heads": 16,
    "vt_num_hidden_layers": 27,
}
K3 = {
    **K2_5,
    "attn_bias": False,
    "linear_bias": False,
    "patch_embed_proj_bias": False,
    "norm_type": "rmsnorm",
    "mm_projector_type": "patchmergerv2",
    "qkv_hidden_size": 1536,
    "vt_hidden_size": 1024,
    "vt_intermediate_size": 4096,
    "vt_num_attention_heads": 12,
}


def size(tower: Tower) -> int:
    return sum(tensor.params for tensor in tower.tensors)


def test_k2_5() -> None:
    # patches 1152 (588 + 1), positions 4096 x 1152, 27 blocks as in Qwen3-VL, a LayerNorm
    # projector: LayerNorm, 4608 x 4609, 7168 x 4609
    expected = 678_528 + 4_718_592 + 27 * 15_239_504 + 2_304 + 2_304 + 21_238_272 + 33_037_312
    assert size(kimi_tower(Config(K2_5))) == expected == 471_143_920


def test_k3_has_heads_wider_than_its_stream_and_no_biases() -> None:
    # patches 1024 x 588, positions 4096 x 1024
    # 27 blocks: norms 2 x 1024, attention 4 x 1536 x 1024, parts 2 x 1024 x 4096; a norm
    # projector: 4096 x 4096, 7168 x 4096, norm 7168
    expected = 602_112 + 4_194_304 + 27 * 14_682_112 + 1_024 + 16_777_216 + 29_360_128 + 7_168
    assert size(kimi_tower(Config(K3))) == expected == 447_358_976


def test_twelve_heads_stay_whole_on_eight_ranks() -> None:
    tensors = {tensor.name.removeprefix("vision_tower."): tensor for tensor in kimi_tower(Config(K3)).tensors}
    for name in ("encoder.blocks.0.wqkv", "encoder.blocks.0.wo", "encoder.blocks.0.mlp.fc0"):
        assert cut(tensors[name], 8).params == tensors[name].params
        assert cut(tensors[name], 4).params * 4 == tensors[name].params
    assert cut(tensors["mm_projector.linear_1"], 4).rows == 4096


def test_an_unknown_projector_is_named() -> None:
    with pytest.raises(UnknownKeyError, match="mm_projector_type: 'perceiver'"):
        kimi_tower(Config({**K2_5, "mm_projector_type": "perceiver"}))
