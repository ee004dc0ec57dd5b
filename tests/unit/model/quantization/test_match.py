"""Looking up formats: the first rule decides, by names, numbers and patterns, quickly."""

from __future__ import annotations

import re
import time

import pytest

from tonnage.model.quantization.formats import FP8_CHANNEL, MXFP4, MXFP8, NVFP4
from tonnage.model.quantization.match import format_of, is_numbered
from tonnage.model.quantization.scheme import Rule, Scheme

PARTS = [f"self_attn.{part}_proj" for part in "qkvo"] + [f"mlp.experts.{part}_proj" for part in ("gate", "up", "down")]
PARTS += [f"mlp.shared_experts.{part}_proj" for part in ("gate", "up", "down")]
PARTS += ["linear_attn.in_proj_qkv", "linear_attn.out_proj", "self_attn.indexer.wq_b", "mlp.gate", "eh_proj"]


def test_without_rules_everything_keeps_its_dtype() -> None:
    assert format_of(Scheme("none", ()), "model.layers.0.mlp.up_proj") is None


def test_the_first_rule_decides() -> None:
    rules = (Rule("", None, ("layers.3.mlp",)), Rule("", MXFP4, ("**.mlp",)), Rule("", MXFP8))
    scheme = Scheme("test", rules)
    assert format_of(scheme, "model.layers.3.mlp.up_proj") is None
    assert format_of(scheme, "model.layers.4.mlp.up_proj") is MXFP4
    assert format_of(scheme, "model.layers.4.self_attn.q_proj") is MXFP8


def test_numbers_decide_within_a_kind() -> None:
    scheme = Scheme("test", (Rule("", NVFP4, ("layers.{0-2,5}.mlp.experts",)), Rule("", MXFP4)))
    found = [format_of(scheme, f"model.layers.{layer}.mlp.experts.up_proj") for layer in range(7)]
    assert found == [NVFP4, NVFP4, NVFP4, MXFP4, MXFP4, NVFP4, MXFP4]


def test_numbers_behind_the_first_belong_to_the_kind() -> None:
    scheme = Scheme("test", (Rule("", NVFP4, ("**.parts.{1-2}",)), Rule("", MXFP4)))
    assert format_of(scheme, "model.layers.2.parts.1.proj") is NVFP4
    assert format_of(scheme, "model.layers.1.parts.3.proj") is MXFP4
    assert format_of(scheme, "model.parts.2.proj") is NVFP4


def test_an_anchored_path_is_not_found_deeper() -> None:
    scheme = Scheme("test", (Rule("", None, ("layers.0.mlp",)), Rule("", MXFP4)))
    assert format_of(scheme, "model.layers.0.mlp.up_proj") is None
    assert format_of(scheme, "mtp.layers.0.mlp.up_proj") is MXFP4
    assert format_of(scheme, "vision_tower.layers.0.mlp.up_proj") is MXFP4


def test_a_pattern_with_digits_is_asked_for_every_layer() -> None:
    scheme = Scheme("test", (Rule(r"model\.layers\.(3|12)\.", NVFP4), Rule("", MXFP4)))
    found = [layer for layer in range(20) if format_of(scheme, f"model.layers.{layer}.mlp.up_proj") is NVFP4]
    assert found == [3, 12]


def test_a_pattern_may_write_the_wrappers_differently() -> None:
    scheme = Scheme("test", (Rule(r"language_model\.model\.layers\.\d+\.mlp", NVFP4), Rule("", None)))
    assert format_of(scheme, "model.layers.3.mlp.up_proj") is NVFP4
    assert format_of(scheme, "model.language_model.layers.3.mlp.up_proj") is NVFP4


def test_spellings_of_one_tensor_agree() -> None:
    scheme = Scheme("test", (Rule("", NVFP4, ("layers.{3-60}.mlp.experts",)), Rule("", None)))
    for name in (
        "model.layers.7.mlp.experts.gate_proj",
        "model.layers.7.mlp.experts.11.gate_proj",
        "model.layers.7.mlp.experts.gate_up_proj.weight",
        "language_model.model.layers.7.mlp.experts.gate_proj",
        "layers.7.ffn.experts.w1",
    ):
        assert format_of(scheme, name) is NVFP4


def test_equal_schemes_and_gone_schemes_do_not_mix() -> None:
    for form in (MXFP4, MXFP8, NVFP4, FP8_CHANNEL) * 40:
        # each scheme is dropped at once, so its id may come back
        assert format_of(Scheme("test", (Rule("", form),)), "model.layers.0.mlp.up_proj") is form


def test_odd_names_are_answered() -> None:
    scheme = Scheme("test", (Rule("", None, ("**.lm_head",)), Rule(".*x", MXFP4), Rule("", MXFP8)))
    for name in ("", ".", "..", "experts", "a.experts", "99999999999999999999.x", "²", "experts.0"):
        assert format_of(scheme, name) in (MXFP4, MXFP8)


def test_a_whole_model_takes_a_few_milliseconds() -> None:
    lists = tuple(f"layers.{{0-{layer}}}.mlp.gate" for layer in range(60))
    patterns = tuple(Rule(pattern, None) for pattern in (".*self_attn", r".*shared_experts", r".*mlp\.gate$"))
    scheme = Scheme("test", (Rule("", None, lists), *patterns, Rule("", MXFP4)))
    names = [f"model.layers.{layer}.{part}" for layer in range(93) for part in PARTS]
    started = time.perf_counter()
    for name in names:
        format_of(scheme, name)
    # 1395 names; about 4 ms on a small machine, with room for a busy one
    assert time.perf_counter() - started < 0.1


WORDS = (r".*self_attn", r".*mlp\.(gate|up|gate_up|down)_proj", r".*shared_experts", r".*lin-attn\.out", r".*a\.b(|c)d")
OTHERS = (
    r".*self_attn$",
    r".*layers\.1\.",
    r".*mlp.gate",
    r"self_attn",
    r".*(gate|up)",
    r".*mlp\.(gate|u.)x",
    r".*a|b",
)


@pytest.mark.parametrize("pattern", [*WORDS, *OTHERS])
def test_patterns_of_words_hold_where_the_expression_does(pattern: str) -> None:
    # Each ends in letters or signs of its own, so that the scheme's default never hides a difference.
    scheme = Scheme("test", (Rule(pattern, MXFP4), Rule("", MXFP8)))
    names = [
        f"model.layers.{number}.{part}" for number in (1, 12) for part in (*PARTS, "lin-attn.out", "a.bd", "xa.bcd")
    ]
    for name in names:
        fused = name.replace("gate_proj", "gate_up_proj").replace("up_proj", "gate_up_proj")
        texts = (name, name.removeprefix("model."), fused, fused.removeprefix("model."))
        if not any(re.match(pattern, text) for text in texts):
            assert format_of(scheme, name) is MXFP8, name
        elif re.match(pattern, name):
            assert format_of(scheme, name) is MXFP4, name


@pytest.mark.parametrize(
    ("rule", "name", "numbered"),
    [
        (Rule("", None, ("layers.3.mlp",)), "model.layers.0.mlp.up_proj", True),
        (Rule("", None, ("layers.3.mlp",)), "model.layers.0.self_attn.q_proj", False),
        (Rule("", None, ("layers.*.mlp",)), "model.layers.0.mlp.up_proj", False),
        (Rule("", None, ("**.mlp",)), "model.layers.0.mlp.up_proj", False),
        (Rule(".*mlp", None), "model.layers.0.mlp.up_proj", False),
        (Rule(r".*layers\.[0-2]\.mlp", None), "model.layers.5.mlp.up_proj", True),
        # A pattern that is more than words may count digits.
        (Rule(r".*layers\...\.mlp", None), "model.layers.5.mlp.up_proj", True),
    ],
)
def test_whether_the_number_of_the_layer_matters(rule: Rule, name: str, numbered: bool) -> None:
    assert is_numbered(Scheme("test", (rule, Rule("", MXFP8))), name) is numbered
