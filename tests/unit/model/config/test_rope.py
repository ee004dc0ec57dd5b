"""Rotary tables: how many, how long, how wide."""

from __future__ import annotations

import pytest

from tonnage.model.arch import Layer, Rope
from tonnage.model.config.keys import Config
from tonnage.model.config.rope import read_ropes
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla

FULL = Gqa(32, 8, 128, 128)
SLIDING = Gqa(32, 8, 128, 128, window=512)
LATENT = Mla(128, 1536, 512, 128, 64, 128)
SPARSE = Mla(128, 1536, 512, 128, 64, 128, indexer=Indexer(64, 128, 2048), is_sparse=True)


def ropes(*mixers: Gqa | Mla | DeltaNet, **keys: object) -> tuple[Rope, ...]:
    cfg = Config({"max_position_embeddings": 131072, **keys})
    return read_ropes(cfg, tuple(Layer((mixer,), ()) for mixer in mixers))


def test_equal_layers_share_one_table() -> None:
    # Llama 3.1 8B: 131,072 positions x 128 x 2 B = 33,554,432 B
    assert ropes(FULL, FULL, SLIDING) == (Rope(131072, 128),)


def test_no_table_without_rotation() -> None:
    assert ropes(FULL, model_type="nemotron_h") == ()
    assert ropes(FULL, model_type="gpt2") == ()
    assert ropes(DeltaNet(16, 32, 128, 128, 4)) == ()


@pytest.mark.parametrize(
    ("scaling", "positions"),
    [
        ({"rope_type": "default"}, 131072),
        ({"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}, 131072),
        ({"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}, 163840),
        ({"rope_type": "linear", "factor": 2.0}, 262144),
        ({"rope_type": "dynamic", "factor": 2.0}, 131072),
        ({"type": "longrope", "original_max_position_embeddings": 4096}, 131072 + 4096),
        ({"rope_type": "default", "mrope_section": [24, 20, 20]}, 131072),
    ],
)
def test_length_by_kind_of_scaling(scaling: dict[str, object], positions: int) -> None:
    assert ropes(FULL, rope_scaling=scaling) == (Rope(positions, 128),)
    assert ropes(FULL, rope_parameters=scaling) == (Rope(positions, 128),)


def test_older_multimodal_models_keep_four_times_the_positions() -> None:
    scaling = {"type": "default", "mrope_section": [16, 24, 24]}
    assert ropes(FULL, model_type="qwen2_5_vl", rope_scaling=scaling) == (Rope(4 * 131072, 128),)


def test_the_original_length_may_stand_outside() -> None:
    scaling = {"type": "longrope", "factor": 32.0}
    assert ropes(FULL, rope_scaling=scaling, original_max_position_embeddings=4096) == (Rope(135168, 128),)


@pytest.mark.parametrize(
    ("keys", "dim"),
    [
        ({"partial_rotary_factor": 0.5}, 64),
        ({"rotary_dim": 64}, 64),
        ({"rope_parameters": {"partial_rotary_factor": 0.25}}, 32),
        ({"model_type": "glm4_moe"}, 64),
        # int(128 x 0.334) = 42
        ({"partial_rotary_factor": 0.334}, 42),
    ],
)
def test_width_when_a_part_of_the_head_rotates(keys: dict[str, object], dim: int) -> None:
    assert ropes(FULL, **keys) == (Rope(131072, dim),)


def test_latent_attention_rotates_its_own_part() -> None:
    assert ropes(LATENT) == (Rope(131072, 64),)


def test_a_selector_that_rotates_otherwise_has_its_own_table() -> None:
    assert ropes(SPARSE) == (Rope(131072, 64), Rope(131072, 64))
    assert ropes(SPARSE, indexer_rope_interleave=True) == (Rope(131072, 64),)


def test_kinds_with_parameters_of_their_own() -> None:
    # Laguna: full layers stretch half a head by yarn, sliding layers rotate all of it plainly.
    parameters = {
        "full_attention": {
            "rope_type": "yarn",
            "factor": 32.0,
            "original_max_position_embeddings": 8192,
            "partial_rotary_factor": 0.5,
        },
        "sliding_attention": {"rope_type": "default", "partial_rotary_factor": 1.0},
    }
    tables = ropes(FULL, SLIDING, rope_parameters=parameters, max_position_embeddings=262144)
    assert tables == (Rope(262144, 64), Rope(262144, 128))


def test_a_local_base_makes_a_second_table_without_scaling() -> None:
    # Gemma 3: full layers are scaled by 8, sliding ones are not.
    scaling = {"rope_type": "linear", "factor": 8.0}
    tables = ropes(FULL, SLIDING, rope_local_base_freq=10000, rope_scaling=scaling)
    assert tables == (Rope(8 * 131072, 128), Rope(131072, 128))
    assert ropes(FULL, SLIDING, swa_rope_theta=10000) == (Rope(131072, 128), Rope(131072, 128))


def test_proportional_rotation_pads_to_the_whole_head() -> None:
    parameters = {"full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25}}
    assert ropes(Gqa(16, 2, 512, 512), rope_parameters=parameters) == (Rope(131072, 512),)


def test_gpt_oss_keeps_its_table_in_32_bits() -> None:
    scaling = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}
    assert ropes(FULL, model_type="gpt_oss", rope_scaling=scaling) == (Rope(131072, 128, "float32"),)


def test_vision_encoders_rotate_half_a_head() -> None:
    vision = Config({"hidden_size": 1152, "num_heads": 16, "depth": 27, "spatial_merge_size": 2})
    tables = read_ropes(Config({"max_position_embeddings": 4096}), (Layer((FULL,), ()),), vision)
    # 1152 / 16 = 72, half of it
    assert tables[1] == Rope(8192, 36)
    other = read_ropes(Config({"max_position_embeddings": 4096}), (), Config({"hidden_size": 1152}))
    assert other == ()
