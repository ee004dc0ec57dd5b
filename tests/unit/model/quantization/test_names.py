"""One spelling for the module paths of checkpoints, configurations and architectures."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.model.quantization.names import (
    compact,
    entry_paths,
    parse_name,
    split_path,
    template,
    tensor_path,
    unwrap,
)

PLAIN = [
    ("model.layers.3.self_attn.q_proj", "layers.3.self_attn.q_proj"),
    ("model.language_model.layers.3.mlp.up_proj", "layers.3.mlp.up_proj"),
    ("language_model.model.layers.3.mlp.up_proj", "layers.3.mlp.up_proj"),
    ("backbone.layers.3.mixer.in_proj", "layers.3.mixer.in_proj"),
    ("transformer.blocks.3.ffn.router.layer", "blocks.3.mlp.router.layer"),
    ("layers.3.ffn.experts.17.w1", "layers.3.mlp.experts.gate_proj"),
    ("model.layers.3.block_sparse_moe.experts.0.w2", "layers.3.mlp.experts.down_proj"),
    ("model.layers.*.mlp.experts.*.down_proj", "layers.*.mlp.experts.down_proj"),
    ("language_model.lm_head", "lm_head"),
    ("model.visual.blocks.0.attn.qkv", "visual.blocks.0.self_attn.qkv"),
    ("mtp.layers.0.mlp.gate", "mtp.layers.0.mlp.gate"),
    ("vision_tower.encoder.layers.0.fc1", "vision_tower.encoder.layers.0.fc1"),
    ("model", "model"),
]


@pytest.mark.parametrize(("name", "expected"), PLAIN)
def test_common_spelling(name: str, expected: str) -> None:
    assert ".".join(split_path(name)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model.layers.0.self_attn.qkv_proj", "layers.0.self_attn.q_proj"),
        ("model.layers.0.mlp.experts.gate_up_proj", "layers.0.mlp.experts.gate_proj"),
        ("model.layers.0.self_attn.fused_qkv_a_proj", "layers.0.self_attn.q_a_proj"),
        ("model.layers.0.linear_attn.in_proj_ba", "layers.0.linear_attn.in_proj_b"),
        ("model.layers.0.mlp.down_proj.weight", "layers.0.mlp.down_proj"),
    ],
)
def test_a_fused_tensor_stands_for_its_first_part(name: str, expected: str) -> None:
    assert ".".join(tensor_path(name)) == expected


def test_unwrap_leaves_at_least_one_component() -> None:
    assert unwrap(["model", "language_model"]) == ["language_model"]
    assert unwrap(["model", "norm"]) == ["norm"]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("model.layers.0.mlp.gate", ["layers.0.mlp.gate"]),
        ("model.norm", ["norm"]),
        ("gate", ["**.gate"]),
        ("lm_head", ["**.lm_head"]),
        ("mlp.gate.", ["**.mlp.gate"]),
        ("self_attn.qkv_proj", [f"**.self_attn.{part}_proj" for part in ("qkv", "q", "k", "v")]),
        ("model.layers.1.mlp.gate_up_proj", [f"layers.1.mlp.{part}_proj" for part in ("gate_up", "gate", "up")]),
        ("", []),
        ("...", []),
    ],
)
def test_entries_are_anchored_only_when_they_begin_a_path(entry: str, expected: list[str]) -> None:
    assert [".".join(path) for path in entry_paths(entry)] == expected


def test_layers_are_counted_in_runs() -> None:
    entries = [f"model.layers.{index}.mlp.gate" for index in (0, 1, 2, 3, 7, 9, 10)]
    assert compact([*entries, "lm_head"]) == ("**.lm_head", "layers.{0-3,7,9-10}.mlp.gate")


def test_one_layer_is_written_plainly() -> None:
    assert compact(["model.layers.61.eh_proj"]) == ("layers.61.eh_proj",)


def test_experts_of_a_layer_are_one_module() -> None:
    entries = [f"model.layers.{layer}.mlp.experts.{n}.up_proj" for layer in range(4) for n in range(256)]
    assert compact(entries) == ("layers.{0-3}.mlp.experts.up_proj",)


@pytest.mark.parametrize(
    ("name", "path", "numbers"),
    [
        ("layers.{0-3,7}.mlp.gate", "layers.#.mlp.gate", {0, 1, 2, 3, 7}),
        ("layers.5.mlp.gate", "layers.#.mlp.gate", {5}),
        ("layers.*.self_attn", "layers.#.self_attn", None),
        ("**.lm_head", "**.lm_head", None),
    ],
)
def test_a_written_name_is_read_back(name: str, path: str, numbers: set[int] | None) -> None:
    found_path, found = parse_name(name)
    assert ".".join(found_path) == path
    assert found == numbers


def test_template_takes_the_first_number_only() -> None:
    assert template(["layers", "3", "part", "4"]) == (("layers", "#", "part", "4"), 3)
    assert template(["lm_head"]) == (("lm_head",), None)
    assert template(["layers", "9" * 30]) == (("layers", "9" * 30), None)


@settings(deadline=None)
@given(st.sets(st.integers(0, 500), min_size=1))
def test_every_layer_of_a_list_comes_back(layers: set[int]) -> None:
    (name,) = compact(f"model.layers.{layer}.mlp.gate" for layer in layers)
    assert parse_name(name)[1] == layers
