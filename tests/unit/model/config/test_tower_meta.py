"""Vision towers of Llama 4 and Muse."""

from __future__ import annotations

from tonnage.layout.shard import cut
from tonnage.model.arch import Tower
from tonnage.model.config.keys import Config
from tonnage.model.config.tower_meta import llama4_tower, muse_tower

LLAMA4 = Config(
    {
        "hidden_size": 1408,
        "intermediate_size": 5632,
        "num_hidden_layers": 34,
        "num_attention_heads": 16,
        "image_size": 336,
        "patch_size": 14,
        "vision_output_dim": 4096,
        "projector_input_dim": 4096,
        "projector_output_dim": 4096,
    }
)
MUSE = Config(
    {
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 50,
        "num_attention_heads": 16,
        "patch_size": 14,
        "patch_temporal": 2,
        "merge_size": 2,
        "pos_emb_height": 32,
        "pos_emb_width": 32,
    }
)


def size(tower: Tower) -> int:
    return sum(tensor.params for tensor in tower.tensors)


def test_llama_4() -> None:
    # class 1408, positions (24^2 + 1) 1408, patches 1408 x 588, two LayerNorms
    # 34 blocks: attention 4 x 1408 x 1409, parts 2 x 1408 x 5632 + 5632 + 1408, norms 4 x 1408
    # adapter 4096 x 5632 + 4096 x 4096, projection 5120 x 4096.
    # The published 108,641,793,536 of Scout less its text's 107,769,861,120.
    expected = 1_408 + 812_416 + 827_904 + 5_632 + 34 * 23_807_872 + 23_068_672 + 16_777_216 + 20_971_520
    assert size(llama4_tower(LLAMA4, 5120)) == expected == 108_641_793_536 - 107_769_861_120


def test_llama_4_without_its_vision_part_gets_the_defaults() -> None:
    # width 768, image 448, output 7680: 768 + 1025 x 768 + 768 x 588 + 3072
    # 34 blocks: 4 x 768 x 769 + 2 x 768 x 5632 + 6400 + 3072; adapter as above, projection 5120 x 7680
    expected = 768 + 787_200 + 451_584 + 3_072 + 34 * 11_022_592 + 23_068_672 + 16_777_216 + 39_321_600
    assert size(llama4_tower(Config({}), 5120)) == expected


def test_shards_of_llama_4_over_eight_ranks() -> None:
    shards = {t.name: cut(t, 8) for t in llama4_tower(Config({}), 5120).tensors}
    # What vLLM 0.32 creates.
    assert shards["vision_model.patch_embedding.linear"].rows == 96
    assert shards["vision_model.model.layers.0.mlp.fc1"].rows == 704
    assert shards["vision_model.vision_adapter.mlp.fc2"].cols == 512
    assert shards["multi_modal_projector.linear_1"].rows == 640


def test_muse() -> None:
    # patches 1536 x 1176, positions 1024 x 1536, two LayerNorms
    # 50 blocks: norms 4 x 1536, attention 4 x 1536 x 1537, parts 2 x 1536 x 8960 + 8960 + 1536
    # adapter 4096 x 6144 + 4096 x 4096, projection 6656 x 4096
    expected = 1_806_336 + 1_572_864 + 6_144 + 50 * 36_985_088 + 25_165_824 + 16_777_216 + 27_262_976
    assert size(muse_tower(MUSE, 6656, 4096)) == expected


def test_muse_divides_attention_only() -> None:
    shards = {t.name.rsplit("transformer.0.", 1)[-1]: cut(t, 8) for t in muse_tower(MUSE, 6656, 4096).tensors}
    assert (shards["attn.qkv_proj"].rows, shards["attn.o_proj"].cols) == (576, 192)
    assert (shards["mlp.c_fc"].rows, shards["mlp.c_proj"].cols) == (8960, 8960)
