"""Vision towers of Gemma 3 and 4."""

from __future__ import annotations

from tonnage.layout.shard import cut
from tonnage.model.arch import Tower
from tonnage.model.config.keys import Config
from tonnage.model.config.tower_gemma import gemma4_tower, siglip_tower

SIGLIP = Config(
    {
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "patch_size": 14,
        "image_size": 896,
    }
)
GEMMA4: dict[str, object] = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "head_dim": 72,
    "patch_size": 16,
    "position_embedding_size": 10240,
    "pooling_kernel_size": 3,
    "standardize": True,
}


def size(tower: Tower) -> int:
    return sum(tensor.params for tensor in tower.tensors)


def test_gemma_3_27b() -> None:
    # patches 1152 (588 + 1), positions 4096 x 1152, 27 blocks as in Qwen3-VL, a LayerNorm
    # projection 1152 x 5376 and a norm. The published 27,432,406,640 less the text's 27,009,346,304.
    tower = siglip_tower(SIGLIP, 5376, 256)
    assert size(tower) == 678_528 + 4_718_592 + 27 * 15_239_504 + 2_304 + 6_193_152 + 1_152
    assert size(tower) == 27_432_406_640 - 27_009_346_304
    assert tower.max_tokens == 256


def test_gemma_3_divides_attention_and_parts() -> None:
    shards = {t.name.rsplit("layers.0.", 1)[-1]: cut(t, 8) for t in siglip_tower(SIGLIP, 5376, None).tensors}
    assert (shards["self_attn.q_proj"].rows, shards["self_attn.out_proj"].cols) == (144, 144)
    assert (shards["mlp.fc1"].rows, shards["mlp.fc2"].cols) == (538, 538)


def test_gemma_4_26b() -> None:
    # positions 2 x 10,240 x 1152, patches 1152 x 768
    # blocks: attention 4 x 1152^2 + 2 x 72, parts 3 x 1152 x 4304, norms 4 x 1152; standardisation 2 x 1152
    # projection 2816 x 1152. The published 25,805,936,206 less the text's 25,233,141,790.
    tower = gemma4_tower(Config(GEMMA4), 2816, 280)
    assert size(tower) == 23_592_960 + 884_736 + 27 * 20_187_792 + 2_304 + 3_244_032
    assert size(tower) == 25_805_936_206 - 25_233_141_790
    assert size(gemma4_tower(Config({**GEMMA4, "standardize": False}), 2816, 280)) == size(tower) - 2_304


def test_gemma_4_stands_whole_on_every_rank() -> None:
    tower = gemma4_tower(Config(GEMMA4), 2816, None)
    assert sum(cut(tensor, 8).params for tensor in tower.tensors) == size(tower)
