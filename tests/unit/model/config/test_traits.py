"""Which model type implies what, and how a type is recognised."""

from __future__ import annotations

import pytest

from tonnage.model.config.keys import Config
from tonnage.model.config.traits import PRE, SANDWICH, TRAITS, Traits, read_family, traits_of


@pytest.mark.parametrize(
    ("stated", "listed"),
    [
        ("qwen2", "qwen2"),
        ("qwen3_vl_text", "qwen3_vl"),
        ("qwen3_vl_moe_text", "qwen3_vl_moe"),
        ("qwen3_5_moe_text", "qwen3_5_moe"),
        ("gemma3_text", "gemma3"),
        ("gemma4_text", "gemma4"),
        ("llama4_text", "llama4"),
        ("minimax_m3_vl", "minimax_m3"),
        ("step3p7", "step3p5"),
        ("kimi_k25", "kimi_k2"),
    ],
)
def test_types_with_suffixes_and_successors(stated: str, listed: str) -> None:
    cfg = Config({"model_type": stated})
    assert read_family(cfg) == listed
    assert traits_of(cfg) == TRAITS[listed]


@pytest.mark.parametrize("stated", ["llama", "mistral", "phi3", "granite", "something_new", ""])
def test_unlisted_types_are_plain(stated: str) -> None:
    assert traits_of(Config({"model_type": stated})) == Traits()
    assert read_family(Config({"model_type": stated})) == stated


def test_the_architecture_stands_in_for_a_missing_type() -> None:
    cfg = Config({"architectures": ["Grok1ModelForCausalLM"]})
    assert read_family(cfg) == "grok-1"
    # Four norms per layer and one table for input and output.
    assert len(traits_of(cfg).norms) == 4
    assert traits_of(cfg).tied


def test_norms_of_a_layer_by_family() -> None:
    assert traits_of(Config({"model_type": "qwen3"})).norms == PRE
    assert traits_of(Config({"model_type": "gemma2"})).norms == SANDWICH
    assert traits_of(Config({"model_type": "cohere"})).norms == ("input_layernorm",)
    assert traits_of(Config({"model_type": "olmo2"})).norms == (
        "post_attention_layernorm",
        "post_feedforward_layernorm",
    )


def test_families_that_share_an_ancestor_differ_only_where_said() -> None:
    qwen2, qwen3 = TRAITS["qwen2"], TRAITS["qwen3"]
    assert (qwen2.qkv_bias, qwen2.qk_norm) == (True, "none")
    assert (qwen3.qkv_bias, qwen3.qk_norm) == (False, "head")
    assert TRAITS["gemma2"].pattern == 2
    assert TRAITS["gemma3"].pattern == 6
    assert TRAITS["cohere2"].pattern == 4
