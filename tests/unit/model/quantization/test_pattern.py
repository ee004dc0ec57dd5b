"""Patterns from downloaded files: what is admitted means the same, what could run away is refused."""

from __future__ import annotations

import re
import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tonnage.errors import TonnageError, UnreadableError
from tonnage.model.quantization.pattern import (
    WORK_MAX,
    glob_pattern,
    is_digit_blind,
    is_floating,
    safe_regex,
    word_pattern,
)

REAL = [
    r".*self_attn.*",
    r".*mlp\.(gate|up|gate_up|down)_proj.*",
    r".*\.mlp\.gate$",
    r"model\.layers\.\d+\.mlp\.experts\.\d+\.(gate|up|down)_proj",
    r".*model\.layers\..*\.mlp\..*\.experts\..*_proj.*",
    r"^(?!.*experts).*$",
    r".*layers\.(" + "|".join(str(n) for n in range(61)) + r")\..*(gate|up)_proj\..*",
    r"(?i).*LM_HEAD",
    r".*\.w[123]$",
    r".*\d{1,3}\.mlp",
    r"[^.]+\.layers",
]


@pytest.mark.parametrize("pattern", REAL)
def test_patterns_of_real_checkpoints_are_admitted(pattern: str) -> None:
    assert 1 <= safe_regex(pattern).work <= WORK_MAX


RUNAWAY = [
    r"(a+)+b",
    r"(.*)*x",
    r"(a|a)*b",
    r"(\w+\.)+x",
    r"((ab)*)*",
    r".*x?.*y?.*z?.*.*.*(1)",
    r"(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)(.|.)",
    ".?" * 30 + "x",
    r"(.)\1",
    r"(?P<a>.)(?P=a)",
    r"a{1,1000}",
    r"a{99999}",
    r"[\w.]*[\w.]*[\w.]*[\w.]*x",
    "(a|b" * 3 + ")" * 3 + "+",
    "x" * 3000,
]


@pytest.mark.parametrize("pattern", RUNAWAY)
def test_patterns_that_could_run_away_are_refused(pattern: str) -> None:
    with pytest.raises(UnreadableError, match="pattern in quantization_config"):
        safe_regex(pattern)


@pytest.mark.parametrize("pattern", ["(", "[", "a)", "*", "a**", "(?P<1>x)", "\\", "(?#", "(?<!a+)b", "x{2,1}", "(?z)"])
def test_what_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(TonnageError):
        safe_regex(pattern)


NAMES = [
    "model.layers.3.self_attn.q_proj",
    "model.layers.12.mlp.experts.7.up_proj",
    "model.layers.0.mlp.gate",
    "lm_head",
    "vision_tower.blocks.0.mlp.fc1",
    "mlp.mlp.experts.experts.gate",
]


@pytest.mark.parametrize("pattern", REAL)
@pytest.mark.parametrize("name", NAMES)
def test_the_rewriting_changes_no_result(pattern: str, name: str) -> None:
    assert bool(re.match(safe_regex(pattern).regex, name)) == bool(re.match(pattern, name))


tokens = st.sampled_from([".*", "a", "b", ".", r"\.", "(a|b)", "[ab]", "a?", "$"])


@settings(deadline=None)
@given(st.lists(tokens, min_size=1, max_size=7).map("".join), st.text("ab.", max_size=12))
def test_the_rewriting_changes_no_result_at_random(pattern: str, name: str) -> None:
    try:
        admitted = safe_regex(pattern)
    except UnreadableError:
        return
    assert bool(re.match(admitted.regex, name)) == bool(re.match(pattern, name))


@settings(deadline=None)
@given(st.text(r".*+?()[]{}|\ab1,^$", max_size=40))
def test_admitted_patterns_are_quick(pattern: str) -> None:
    try:
        regex = safe_regex(pattern).regex
    except UnreadableError:
        return
    started = time.perf_counter()
    re.match(regex, "ab" * 40)
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize(
    ("glob", "name", "expected"),
    [
        ("*router.layer", "transformer.blocks.0.ffn.router.layer", True),
        ("*.gate", "model.layers.0.mlp.gate", True),
        ("*.gate", "model.layers.0.mlp.gate_proj", False),
        ("*.attn.*", "layers.0.attn.wq_a", True),
        ("layers.?.x", "layers.10.x", False),
    ],
)
def test_globs(glob: str, name: str, expected: bool) -> None:
    assert bool(re.match(glob_pattern(glob).regex, name)) == expected == fnmatchcase(name, glob)


def test_a_word_holds_outside_experts() -> None:
    regex = word_pattern("gate").regex
    assert re.match(regex, "model.layers.0.mlp.gate")
    assert re.match(regex, "gate")
    assert not re.match(regex, "model.layers.0.mlp.experts.gate_proj")
    assert not re.match(regex, "model.layers.0.mlp.experts.0.gate_proj")
    assert re.match(word_pattern("a.b").regex, "x.a.b")
    assert not re.match(word_pattern("a.b").regex, "x.aXb")


def test_a_glob_has_a_length() -> None:
    with pytest.raises(UnreadableError):
        glob_pattern("*" * 2001)


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (".*gate", True),
        ("^.*gate", True),
        (glob_pattern("*.gate").regex, True),
        (glob_pattern("*.attn.*").regex, True),
        (safe_regex(".*a.*b").regex, True),
        (r"model\.layers", False),
        (glob_pattern("model.*.gate").regex, False),
        ("", False),
    ],
)
def test_floating_patterns(regex: str, expected: bool) -> None:
    assert is_floating(regex) == expected


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (r".*mlp\.gate", True),
        (r"model\.layers\.\d+\.mlp", True),
        (glob_pattern("*.attn.*").regex, True),
        (r".*layers\.0\.", False),
        (r".*layers\.[0-9]\.", False),
        (r".*w1", False),
        (r".*\d{2}\.", False),
    ],
)
def test_patterns_that_do_not_speak_of_digits(regex: str, expected: bool) -> None:
    assert is_digit_blind(regex) == expected
