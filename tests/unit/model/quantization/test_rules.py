"""Lists of modules as rules."""

from __future__ import annotations

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.quantization.formats import MXFP8
from tonnage.model.quantization.kept import BUILT_PLAIN, OUTER, TOWERS, default_rules
from tonnage.model.quantization.match import format_of
from tonnage.model.quantization.rules import is_plain, list_rules, search_rules, substring_rules
from tonnage.model.quantization.scheme import Rule, Scheme


def is_kept(rules: tuple[Rule, ...], name: str) -> bool:
    """Whether the rules keep a tensor in 16 bit under a scheme that quantises all else."""
    return format_of(Scheme("test", (*rules, Rule("", MXFP8))), name) is None


def test_plain_entries_make_one_rule() -> None:
    rules = list_rules([f"model.layers.{n}.mlp.gate" for n in range(92)] + ["lm_head"], None)
    assert rules == (Rule("", None, ("**.lm_head", "layers.{0-91}.mlp.gate")),)


def test_an_empty_list_makes_no_rule() -> None:
    assert list_rules([], None) == ()
    assert substring_rules([], None) == ()
    assert search_rules([], None) == ()


@pytest.mark.parametrize(
    ("entry", "kept", "left"),
    [
        ("model.layers.3.mlp.gate", "model.layers.3.mlp.gate", "model.layers.3.mlp.gate_proj"),
        ("model.layers.3.mlp.gate", "model.language_model.layers.3.mlp.gate", "model.layers.30.mlp.gate"),
        ("model.layers.1*", "model.layers.1.mlp.up_proj", "model.layers.10.mlp.up_proj"),
        ("model.layers.1.*", "model.layers.1.mlp.up_proj", "model.layers.11.mlp.up_proj"),
        ("model.layers.2.self_attn*", "model.layers.2.self_attn.q_proj", "model.layers.2.mlp.up_proj"),
        (
            "model.layers.0.mlp.shared_expert*",
            "model.layers.0.mlp.shared_expert.up_proj",
            "model.layers.0.mlp.shared_expert_x",
        ),
        ("mtp*", "mtp.layers.0.self_attn.q_proj", "model.layers.0.self_attn.q_proj"),
        ("vision_tower*", "vision_tower.encoder.layers.0.fc1", "model.layers.0.mlp.up_proj"),
        ("gate", "model.layers.9.block_sparse_moe.gate", "model.layers.9.block_sparse_moe.experts.w1"),
        ("lm_head", "language_model.lm_head", "model.layers.0.self_attn.q_proj"),
        ("model.layers.*.self_attn", "model.layers.17.self_attn.o_proj", "model.layers.17.mlp.experts.up_proj"),
        ("*router.layer", "transformer.blocks.0.ffn.router.layer", "transformer.blocks.0.ffn.experts.mlp.w1"),
        ("*.mlp.shared_expert.*", "model.layers.4.mlp.shared_expert.up_proj", "model.layers.4.mlp.experts.up_proj"),
        ("re:.*self_attn.*", "model.layers.0.self_attn.q_proj", "model.layers.0.mlp.up_proj"),
        (r"re:model\.layers\.0\..*", "model.layers.0.mlp.up_proj", "model.layers.1.mlp.up_proj"),
        (r"re:model\.layers\.0\..*", "model.language_model.layers.0.mlp.up_proj", "vision_tower.layers.0.fc1"),
        (r"re:.*layers\.\d\.mlp\..*", "model.layers.7.mlp.up_proj", "model.layers.17.mlp.up_proj"),
        (r"re:.*experts\.\d+\.down_proj$", "model.layers.0.mlp.experts.down_proj", "model.layers.0.mlp.down_proj"),
        ("re:.*qkv_proj.*", "model.layers.0.self_attn.v_proj", "model.layers.0.self_attn.o_proj"),
        ("model.layers.0.self_attn.qkv_proj", "model.layers.0.self_attn.k_proj", "model.layers.0.self_attn.o_proj"),
        ("model.layers.0.mlp.gate_up_proj", "model.layers.0.mlp.up_proj", "model.layers.0.mlp.down_proj"),
        (
            "model.layers.0.mlp.experts.17.up_proj",
            "model.layers.0.mlp.experts.up_proj",
            "model.layers.1.mlp.experts.up_proj",
        ),
        ("layers.5.ffn.experts", "layers.5.ffn.experts.w2", "layers.5.ffn.shared_experts.w2"),
    ],
)
def test_what_an_entry_holds_for(entry: str, kept: str, left: str) -> None:
    rules = list_rules([entry], None)
    assert is_kept(rules, kept)
    assert not is_kept(rules, left)


def test_parts_of_a_fused_module_speak_for_it() -> None:
    rules = list_rules([f"model.layers.0.self_attn.{part}_proj" for part in "qkv"], None)
    assert is_kept(rules, "model.layers.0.self_attn.qkv_proj")
    assert not is_kept(rules, "model.layers.1.self_attn.qkv_proj")


def test_odd_entries_hold_for_nothing_and_break_nothing() -> None:
    for entry in ("", ".", "#", "{0-5}", "layers.{x}.y", "a b", "é", "[", "?*?", "*"):
        rules = list_rules([entry], None)
        assert is_kept(rules, "model.layers.0.mlp.up_proj") == (entry in ("*", "?*?"))


def test_words_hold_anywhere() -> None:
    rules = substring_rules(["gate", "visual.", ""], None)
    assert is_kept(rules, "model.layers.0.mlp.gate")
    # as in vLLM, which asks about gate_up_proj as a whole and about experts as a whole
    assert is_kept(rules, "model.layers.0.mlp.gate_proj")
    assert is_kept(rules, "model.layers.0.mlp.up_proj")
    assert not is_kept(rules, "model.layers.0.mlp.experts.gate_proj")
    assert is_kept(rules, "model.layers.0.mlp.shared_experts.gate_proj")
    assert is_kept(rules, "model.visual.blocks.0.attn.qkv")
    assert not is_kept(rules, "model.layers.0.mlp.down_proj")


def test_words_may_name_the_experts_themselves() -> None:
    assert is_kept(substring_rules(["mlp.experts"], None), "model.layers.0.mlp.experts.gate_proj")
    assert not is_kept(substring_rules(["mlp.experts"], None), "model.layers.0.mlp.shared_experts.gate_proj")


def test_expressions_that_are_searched_for() -> None:
    rules = search_rules([r"linear_attn\.in_proj_[ab]$"], None)
    assert is_kept(rules, "model.layers.0.linear_attn.in_proj_b")
    assert not is_kept(rules, "model.layers.0.linear_attn.in_proj_qkv")


def test_a_flood_of_patterns_is_refused() -> None:
    with pytest.raises(UnreadableError, match="600 patterns"):
        list_rules([f"re:a{'b' * n}.*" for n in range(600)], None)
    with pytest.raises(UnreadableError, match="moderate cost"):
        # 100 x 64 x 64 ways
        list_rules([f"re:.*(a{n})[bc].*d" for n in range(100)], None)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [("lm_head", True), ("model.layers.0", True), ("model.layers.*.mlp", True), ("a*b", False), ("[a]", False)],
)
def test_plain_names(entry: str, expected: bool) -> None:
    assert is_plain(entry) == expected


@pytest.mark.parametrize(
    "name",
    [
        "lm_head",
        "model.embed_tokens",
        "head",
        "embed",
        "model.layers.3.mlp.gate",
        "model.layers.61.eh_proj",
        "model.layers.3.self_attn.indexer.weights_proj",
        "model.visual.blocks.0.mlp.fc1",
        "mm_projector.proj.0",
    ],
)
def test_defaults_spare_what_engines_build_in_16_bit(name: str) -> None:
    assert format_of(Scheme("test", default_rules(MXFP8)), name) is None


@pytest.mark.parametrize("name", ["model.layers.3.mlp.gate_proj", "model.layers.3.self_attn.indexer.wq_b"])
def test_defaults_take_linear_modules(name: str) -> None:
    assert format_of(Scheme("test", default_rules(MXFP8)), name) is MXFP8


def test_groups_of_kept_modules_are_apart() -> None:
    assert not {*OUTER} & {*BUILT_PLAIN} & {*TOWERS}
    assert all(name.startswith("**.") for name in (*OUTER, *BUILT_PLAIN, *TOWERS))
