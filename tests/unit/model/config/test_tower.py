"""Which keys tell the kind of an encoder."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import TonnageError
from tonnage.layout.shard import cut
from tonnage.model.config.keys import Config
from tonnage.model.config.tower import generic_tower, read_towers, tower_notes

TEXT: dict[str, Any] = {"model_type": "text", "hidden_size": 32, "num_hidden_layers": 2, "n_routed_experts": 4}
VIT: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "patch_size": 2,
    "image_size": 8,
}
QWEN: dict[str, Any] = {
    "depth": 2,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_heads": 2,
    "patch_size": 2,
    "out_hidden_size": 32,
}


def names(vision: dict[str, Any] | None, **outer: Any) -> set[str]:
    text = {**TEXT, **outer.pop("text", {})}
    (tower,) = read_towers({"text_config": text, "vision_config": vision, **outer})
    return {tensor.name for tensor in tower.tensors}


def test_text_models_have_none() -> None:
    assert read_towers(TEXT) == ()
    assert read_towers({**TEXT, "vision_config": None, "audio_config": None}) == ()
    assert read_towers({**TEXT, "vision_config": {}}) == ()


@pytest.mark.parametrize(
    ("vision", "outer", "name"),
    [
        (QWEN, {}, "model.visual.pos_embed"),
        ({**QWEN, "window_size": 8}, {}, "model.visual.blocks.0.mlp.gate_proj"),
        ({**QWEN, "embed_dim": 16, "mlp_ratio": 2}, {}, "model.visual.blocks.0.mlp.fc1"),
        ({**VIT, "vision_output_dim": 16}, {}, "vision_model.class_embedding"),
        (None, {"model_type": "llama4"}, "vision_model.class_embedding"),
        (VIT, {"mm_tokens_per_image": 4}, "multi_modal_projector.mm_soft_emb_norm"),
        ({**VIT, "head_dim": 8, "position_embedding_size": 4}, {}, "model.embed_vision.embedding_projection"),
        ({**VIT, "img_token_compression_config": {}}, {}, "patch_merge_mlp.linear_1"),
        ({**VIT, "model_type": "pixtral"}, {}, "multi_modal_projector.patch_merger.merging_layer"),
        ({**VIT, "downsample_ratio": 2}, {"text": {"compress_ratios": [0, 0]}}, "aligner.w1"),
        ({"width": 16, "layers": 2, "heads": 2, "patch_size": 2, "image_size": 8}, {}, "vision_model.vit_downsampler2"),
        (VIT, {}, "vision_projector.linear_1"),
    ],
)
def test_keys_decide(vision: dict[str, Any] | None, outer: dict[str, Any], name: str) -> None:
    assert name in names(vision, **outer)


def test_kimi_and_muse() -> None:
    kimi = {
        "vt_hidden_size": 16,
        "vt_intermediate_size": 32,
        "vt_num_hidden_layers": 2,
        "vt_num_attention_heads": 2,
        "patch_size": 2,
        "init_pos_emb_height": 4,
        "init_pos_emb_width": 4,
        "text_hidden_size": 32,
    }
    assert "mm_projector.linear_2" in names(kimi)
    muse = {**VIT, "patch_temporal": 2, "merge_size": 2, "pos_emb_height": 4, "pos_emb_width": 4}
    assert "model.vision_adapter.c_fc" in names(muse, projector_hidden_size=16)


def test_router_biases_for_images_are_those_of_all_layers() -> None:
    text = {**TEXT, "compress_ratios": [0, 0], "num_nextn_predict_layers": 3, "dspark_n_routed_experts": 2}
    (tower,) = read_towers({"text_config": text, "vision_config": {**VIT, "downsample_ratio": 2}})
    assert tower.tensors[-1].params == 2 * 4 + 3 * 2


def test_an_unknown_make_is_estimated_and_says_so() -> None:
    tower = generic_tower(Config(VIT), 32, "vision")
    assert tower.kind == "vision (approximate)"
    # blocks: 4 x 16^2 + 2 x 16 x 32 + 2 x 16; projections 32 x 16 + 32 x 32
    assert sum(tensor.params for tensor in tower.tensors) == 2 * (1024 + 1024 + 32) + 512 + 1024
    assert tower_notes((tower,)) == ("the size of the vision encoder is an estimate: its make is not known",)
    assert tower_notes(read_towers({**TEXT, "vision_config": QWEN})) == ()
    # It refuses no number of ranks.
    assert all(cut(tensor, 8).params for tensor in tower.tensors)


def test_audio_encoders_are_estimated() -> None:
    audio = {"d_model": 16, "encoder_layers": 3, "encoder_ffn_dim": 64, "encoder_attention_heads": 2}
    (tower,) = read_towers({**TEXT, "audio_config": audio})
    assert (tower.kind, tower.layers, tower.hidden) == ("audio (approximate)", 3, 16)
    assert read_towers({**TEXT, "audio_config": {"sampling_rate": 16000}}) == ()


@pytest.mark.parametrize("vision", [7, {**QWEN, "depth": -1}, {**QWEN, "num_heads": "two"}, {**VIT, "hidden_size": 0}])
def test_impossible_values_are_refused(vision: object) -> None:
    with pytest.raises(TonnageError):
        read_towers({"text_config": TEXT, "vision_config": vision})
