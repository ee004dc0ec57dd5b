"""Mutated real configurations give an architecture or a TonnageError, and soon."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tonnage.errors import TonnageError
from tonnage.model.config.arch import read_arch
from tonnage.model.params import count_params
from tonnage.model.tensors import layer_tensors

LIMIT_S = 5.0

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2000),
    st.sampled_from([10**6, 10**9, 2**63, 10**400]),
    st.floats(),
    st.text(max_size=12),
    st.lists(st.one_of(st.integers(-1, 9), st.text(max_size=4), st.none()), max_size=6),
    st.dictionaries(st.text(max_size=6), st.integers(), max_size=3),
)

FAMILIES = [
    "ai21labs__Jamba-v0.1",
    "deepseek-ai__DeepSeek-V4.1-Flash",
    "meituan-longcat__LongCat-Flash-Chat",
    "meta-models__Muse-Glimmer-30B",
    "moonshotai__Kimi-K2.5",
    "Qwen__Qwen3-VL-8B-Instruct",
    "deepseek-ai__DeepSeek-V3.2",
    "deepseek-ai__DeepSeek-V4-Flash",
    "google__gemma-4-26B-A4B",
    "meta-llama__Llama-4-Scout-17B-16E-Instruct",
    "moonshotai__Kimi-K3",
    "nvidia__Llama-3_3-Nemotron-Super-49B-v1",
    "nvidia__MiniMax-M3-NVFP4",
    "nvidia__NVIDIA-Nemotron-3-Super-120B-A12B-FP8",
    "openai__gpt-oss-20b",
    "poolside__Laguna-S-2.1-FP8",
    "Qwen__Qwen3.6-35B-A3B",
    "XiaomiMiMo__MiMo-V2-Flash",
    "zai-org__GLM-5.3",
]


def paths_of(config: dict[str, Any], prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for key, value in config.items():
        found.append((*prefix, key))
        if isinstance(value, dict):
            found += paths_of(value, (*prefix, key))
    return found


def put(config: dict[str, Any], path: tuple[str, ...], value: object, is_removed: bool) -> None:
    for key in path[:-1]:
        inner = config.get(key)
        if not isinstance(inner, dict):
            return
        config = inner
    if is_removed:
        config.pop(path[-1], None)
    else:
        config[path[-1]] = value


def refusal(config: dict[str, Any]) -> str | None:
    """The line that refuses a configuration; None when it was read and every tensor of it has a size."""
    try:
        arch = read_arch(config)
    except TonnageError as error:
        return error.line
    assert count_params(arch).text > 0
    assert all(tensor.params >= 0 for layer in arch.layers for tensor in layer_tensors(layer, arch.hidden))
    return None


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_configurations(shared: Path, name: str, data: st.DataObject) -> None:
    config = json.loads((shared / "models" / f"{name}.json").read_text())
    paths = paths_of(config)
    for _ in range(data.draw(st.integers(1, 3))):
        put(config, data.draw(st.sampled_from(paths)), data.draw(VALUES), data.draw(st.booleans()))
    start = perf_counter()
    line = refusal(config)
    assert line is None or "\n" not in line
    assert perf_counter() - start < LIMIT_S
