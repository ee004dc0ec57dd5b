"""Vision towers of the Qwen models."""

from __future__ import annotations

from tonnage.layout.shard import cut
from tonnage.model.arch import Tower
from tonnage.model.config.keys import Config
from tonnage.model.config.tower_qwen import qwen2_5_tower, qwen2_tower, qwen3_tower

QWEN3_5_27B: dict[str, object] = {
    "deepstack_visual_indexes": [],
    "depth": 27,
    "hidden_size": 1152,
    "in_channels": 3,
    "intermediate_size": 4304,
    "num_heads": 16,
    "num_position_embeddings": 2304,
    "out_hidden_size": 5120,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
}


def size(tower: Tower) -> int:
    return sum(tensor.params for tensor in tower.tensors)


def test_qwen3_5() -> None:
    # patches 1152 (3 x 2 x 16 x 16 + 1), positions 2304 x 1152
    # 27 blocks: norms 4 x 1152, attention 4 x 1152 x 1153, parts 2 x 1152 x 4304 + 4304 + 1152
    # merger: norm 2304, 4608 x 4609, 5120 x 4609
    tower = qwen3_tower(Config(QWEN3_5_27B))
    assert size(tower) == 1_770_624 + 2_654_208 + 27 * 15_239_504 + 2_304 + 21_238_272 + 23_598_080
    assert (tower.kind, tower.layers, tower.hidden) == ("vision", 27, 1152)


def test_qwen3_vl_taps_blocks() -> None:
    taps = qwen3_tower(Config({**QWEN3_5_27B, "deepstack_visual_indexes": [8, 16, 24]}))
    # three more mergers, whose norm spans the four joined patches
    assert size(taps) == size(qwen3_tower(Config(QWEN3_5_27B))) + 3 * (2 * 4608 + 21_238_272 + 23_598_080)


def test_defaults_of_the_configuration_class() -> None:
    keys = ("deepstack_visual_indexes", "num_position_embeddings", "in_channels", "spatial_merge_size")
    bare = Config({key: value for key, value in QWEN3_5_27B.items() if key not in keys})
    full = Config({**QWEN3_5_27B, "deepstack_visual_indexes": [8, 16, 24]})
    assert qwen3_tower(bare) == qwen3_tower(full)


def test_shards_over_eight_ranks() -> None:
    shards = {t.name.removeprefix("model.visual."): cut(t, 8) for t in qwen3_tower(Config(QWEN3_5_27B)).tensors}
    # What vLLM 0.32 creates.
    assert (shards["blocks.0.attn.qkv"].rows, shards["blocks.0.attn.proj"].cols) == (432, 144)
    assert (shards["blocks.0.mlp.linear_fc1"].rows, shards["blocks.0.mlp.linear_fc2"].cols) == (538, 538)
    assert (shards["merger.linear_fc1"].rows, shards["merger.linear_fc2"].cols) == (576, 576)
    assert (shards["patch_embed.proj"].rows, shards["pos_embed"].rows, shards["merger.norm"].rows) == (1152, 2304, 1152)


def test_qwen2_5_vl_7b() -> None:
    vision = {
        "depth": 32,
        "hidden_size": 1280,
        "intermediate_size": 3420,
        "num_heads": 16,
        "in_chans": 3,
        "out_hidden_size": 3584,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "window_size": 112,
    }
    # patches 1280 x 1176; blocks: norms 2 x 1280, attention 4 x 1280 x 1281, parts 3 x 1280 x 3420 + 2 x 3420 + 1280
    # merger: norm 1280, 5120 x 5121, 3584 x 5121. The published 8,292,166,656 less the text's 7,615,616,512.
    blocks = 32 * (2_560 + 6_558_720 + 13_132_800 + 8_120)
    tower = qwen2_5_tower(Config(vision))
    assert size(tower) == 1_505_280 + blocks + 1_280 + 26_219_520 + 18_353_664
    assert size(tower) == 8_292_166_656 - 7_615_616_512


def test_qwen2_vl_7b() -> None:
    vision = {"depth": 32, "embed_dim": 1280, "hidden_size": 3584, "mlp_ratio": 4, "num_heads": 16, "patch_size": 14,
              "temporal_patch_size": 2, "spatial_merge_size": 2}  # fmt: skip
    # blocks: norms 4 x 1280, attention 4 x 1280 x 1281, parts 2 x 1280 x 5120 + 5120 + 1280; merger with a LayerNorm
    blocks = 32 * (5_120 + 6_558_720 + 13_107_200 + 6_400)
    assert size(qwen2_tower(Config(vision))) == 1_505_280 + blocks + 2_560 + 26_219_520 + 18_353_664
