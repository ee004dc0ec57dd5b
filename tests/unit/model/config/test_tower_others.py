"""Vision towers of MiniMax M3, Pixtral, DeepSeek V4.1 and Step."""

from __future__ import annotations

from tonnage.layout.shard import cut
from tonnage.model.arch import Tower
from tonnage.model.config.keys import Config
from tonnage.model.config.tower_others import deepseek_tower, minimax_tower, pixtral_tower, step_tower

DEEPSEEK = Config(
    {
        "hidden_size": 1024,
        "intermediate_size": 2816,
        "num_hidden_layers": 32,
        "num_attention_heads": 16,
        "patch_size": 14,
        "downsample_ratio": 3,
        "max_image_tokens": 1024,
    }
)


def size(tower: Tower) -> int:
    return sum(tensor.params for tensor in tower.tensors)


def test_minimax_m3() -> None:
    vision = {
        "hidden_size": 1280,
        "intermediate_size": 5120,
        "num_hidden_layers": 32,
        "num_attention_heads": 16,
        "patch_size": 14,
        "num_channels": 3,
        "img_token_compression_config": {"spatial_merge_size": 2, "temporal_patch_size": 2},
    }
    # patches 1280 x 1176, a LayerNorm, 32 blocks: attention 4 x 1280 x 1281, parts 2 x 1280 x 5120 + 6400, norms 5120
    # projector 6144 x 1281 + 6144 x 6145, merger 6144 x 24,577 + 6144 x 6145
    tower = minimax_tower(Config(vision), 6144, 6144, has_bias=True)
    expected = 1_505_280 + 2_560 + 32 * 19_677_440 + 7_870_464 + 37_754_880 + 151_001_088 + 37_754_880
    assert size(tower) == expected == 427_040_140_160 - 426_174_572_928


def test_pixtral_under_mistral_small_3_1() -> None:
    vision = {
        "model_type": "pixtral",
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "patch_size": 14,
    }
    # patches 1024 x 588, a norm, 24 blocks: attention 4 x 1024^2, parts 3 x 1024 x 4096, norms 2048
    # projector: norm 1024, merger 1024 x 4096, 5120 x 1024, 5120 x 5120
    tower = pixtral_tower(Config(vision), 5120, 2, has_bias=False)
    assert size(tower) == 602_112 + 1_024 + 24 * 16_779_264 + 1_024 + 4_194_304 + 5_242_880 + 26_214_400
    assert sum(t.params for t in pixtral_tower(Config(vision), 5120, 2, has_bias=True).tensors) == size(tower) + 10_240


def test_deepseek_v4_1() -> None:
    # patches 1024 x 589, norm 1024, 32 blocks: norms 2048, attention 4 x 1024 x 1025, parts 3 x 1024 x 2816
    # aligner 5120 x 9217 + 5120 x 5121, three markers, 384 router biases in 40 layers and 128 in 3 draft layers
    tower = deepseek_tower(DEEPSEEK, 5120, 40 * 384 + 3 * 128)
    expected = 603_136 + 1_024 + 32 * 12_851_200 + 47_191_040 + 26_219_520 + 15_360 + 15_744
    assert size(tower) == expected
    assert tower.max_tokens == 1024


def test_deepseek_falls_back_to_whole_tensors() -> None:
    tensors = deepseek_tower(DEEPSEEK, 5120, 1).tensors
    assert sum(cut(tensor, 32).params for tensor in tensors) == sum(tensor.params for tensor in tensors)
    halves = {tensor.name: cut(tensor, 2) for tensor in tensors}
    assert (halves["vision.blocks.0.mlp.w1"].rows, halves["aligner.w1"].rows) == (2816, 2560)


STEP: dict[str, object] = {
    "width": 1536,
    "layers": 47,
    "heads": 16,
    "mlp_ratio": 8960 / 1536,
    "patch_size": 14,
    "image_size": 728,
    "ls_init_value": 0.1,
    "use_abs_posemb": True,
    "use_cls_token": False,
    "use_ln_pre": True,
    "use_ln_post": False,
}


def test_step_3_7() -> None:
    # patches 1536 x 588, positions 52^2 x 1536, a LayerNorm
    # 47 blocks: attention 4 x 1536 x 1537, scales 2 x 1536, norms 4 x 1536, parts 2 x 1536 x 8960 + 10,496
    # convolutions 3072 (1536 x 9 + 1) and 6144 (3072 x 9 + 1), projection 4096 x 6144
    tower = step_tower(Config(STEP), 4096, has_bias=False)
    expected = 903_168 + 4_153_344 + 3_072 + 47 * 36_988_160 + 42_470_400 + 169_875_456 + 25_165_824
    assert size(tower) == expected
    # The published 201,365,316,160 less text, prediction layers and their heads.
    assert expected == 201_365_316_160 - 196_956_130_368 - 844_296_960 - 1_583_874_048


def test_step_with_a_class_token() -> None:
    plain = size(step_tower(Config(STEP), 4096, has_bias=False))
    token = size(step_tower(Config({**STEP, "use_cls_token": True, "use_ln_post": True}), 4096, has_bias=True))
    # the token and its position, a LayerNorm, the projection's bias
    assert token == plain + 2 * 1536 + 2 * 1536 + 4096
