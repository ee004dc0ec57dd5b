"""Names taken apart."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.catalog.derive import TUNINGS, bare_name, list_bases, remark_of


@pytest.mark.parametrize(
    ("text", "name", "remark"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct (FP8)", "meta-llama/Llama-3.3-70B-Instruct", "FP8"),
        ("Qwen/Qwen3-8B (inferred)", "Qwen/Qwen3-8B", "inferred"),
        ("moonshotai/Kimi-K3 + DSpark draft", "moonshotai/Kimi-K3", None),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B", None),
        ("Qwen3-30B-A3B 4-bit (inferred)", "Qwen3-30B-A3B 4-bit", "inferred"),
        ("a (b) c", "a c", "b"),
        ("a (b", "a", "b"),
        ("a ()", "a", None),
        ("", "", None),
    ],
)
def test_remarks(text: str, name: str, remark: str | None) -> None:
    assert bare_name(text) == name
    assert remark_of(text) == remark


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen2.5-14B"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", "Qwen/Qwen3-235B-A22B"),
        ("google/gemma-3-27b-it", "google/gemma-3-27b"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-ai/DeepSeek-R1"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-V3"),
        ("deepseek-ai/DeepSeek-V4-Flash-0731", "deepseek-ai/DeepSeek-V4-Flash"),
        ("deepseek-ai/DeepSeek-V4-Pro-DSpark", "deepseek-ai/DeepSeek-V4-Pro"),
        ("Qwen/Qwen1.5-72B-Chat", "Qwen/Qwen1.5-72B"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistralai/Mixtral-8x7B"),
        ("Qwen3-30B-A3B class", "Qwen3-30B-A3B"),
        ("Qwen3-8B medical fine-tune", "Qwen3-8B"),
    ],
)
def test_tunings_dates_and_leads_come_off(name: str, base: str) -> None:
    found = list(list_bases(name))
    assert found[0] == name
    assert base in found


@pytest.mark.parametrize(
    ("name", "never"),
    [
        ("Qwen3-8B", "Qwen3"),
        ("Qwen3-30B-A3B", "Qwen3-30B"),
        ("Mixtral-8x7B", "Mixtral"),
        ("gemma-4-E2B-it", "gemma-4"),
        ("DeepSeek R1 671B", "DeepSeek R1"),
        ("Kimi-K2.5", "Kimi-K2"),
        ("DeepSeek-V3.2", "DeepSeek-V3"),
        ("-it", ""),
    ],
)
def test_sizes_and_generations_stay(name: str, never: str) -> None:
    assert never not in list(list_bases(name))


SIZE = r"\d+(?:\.\d+)?[bBtT](?![a-zA-Z])"


@given(st.text(alphabet="abIt-_/.0123456789BbvV()+", max_size=40))
def test_no_base_loses_a_size(name: str) -> None:
    bases = list(list_bases(name))
    assert bases[0] == name
    assert len(bases) == len(set(bases))
    for base in bases:
        assert re.findall(SIZE, base) == re.findall(SIZE, name)


def test_endings_are_folded_and_hold_no_size() -> None:
    assert all(ending == ending.lower() and ending.startswith("-") for ending in TUNINGS)
    assert not [ending for ending in TUNINGS if re.search(SIZE, ending)]
