"""Which keys tell a hybrid model; published totals and per-rank bytes of real ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.layout.shard import cut
from tonnage.model.arch import Arch
from tonnage.model.config.arch import read_arch
from tonnage.model.config.hybrid import hybrid_layers, hybrid_outer
from tonnage.model.config.keys import Config
from tonnage.model.dtypes import element_bytes
from tonnage.model.params import Params, count_params
from tonnage.model.tensor import Tensor
from tonnage.model.tensors import layer_tensors, outer_tensors

# Parameters that the hub counts in the published checkpoint: text, towers, prediction layers, repeated tables.
PUBLISHED = {
    "Qwen__Qwen3-Next-80B-A3B-Thinking": 81_324_862_720,
    "Qwen__Qwen3.5-27B": 27_781_427_952,
    "Qwen__Qwen3.5-397B-A17B": 403_397_928_944,
    "Qwen__Qwen3.6-35B-A3B": 35_951_822_704,
    "Qwen__Qwen3.8-2.4T-A95B": 2_446_182_725_504,
    "XiaomiMiMo__MiMo-7B-Base": 7_833_409_536,
    "ai21labs__Jamba-v0.1": 51_570_323_328,
    "deepseek-ai__DeepSeek-R1": 684_489_845_504,
    "deepseek-ai__DeepSeek-V3.2": 685_355_329_792,
    "deepseek-ai__DeepSeek-V4-Flash": 290_944_616_402,
    "deepseek-ai__DeepSeek-V4-Pro": 1_598_839_674_782,
    "deepseek-ai__DeepSeek-V4.1-Flash": 763_205_315_794,
    "meituan-longcat__LongCat-Flash-Chat": 561_862_880_256,
    "meta-models__Muse-Glimmer-30B": 29_776_626_688,
    "moonshotai__Kimi-K2.5": 1_026_879_376_368,
    "nvidia__Llama-3_3-Nemotron-Super-49B-v1": 49_867_145_216,
    "nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": 31_577_937_344,
    "nvidia__NVIDIA-Nemotron-3-Super-120B-A12B-FP8": 123_611_012_096,
    "nvidia__NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16": 560_524_578_816,
    "nvidia__Nemotron-H-56B-Base-8K": 56_324_350_464,
    "zai-org__GLM-4.7-Flash": 31_221_488_576,
    "zai-org__GLM-5.3": 753_329_940_480,
    # The rest of the published 427,040,140,160 is the tower: the 4-bit copy below has its configuration.
    "MiniMaxAI__MiniMax-M3": 426_174_572_928,
    "nvidia__MiniMax-M3-NVFP4": 427_040_140_160,
}
# The published total is 2,779,931,837,184; 32 values in each of 69 delta attentions are unexplained.
KIMI_K3 = 2_779_931_837_184 - 69 * 32
# Without the 93 x 4 + 2 vectors of 7168 that read earlier residuals.
KIMI_K3_PLAIN_TEXT = 2_779_481_795_168

# Models in 16 bits whose weights the engine itself was asked for, rank by rank.
MEASURED = (
    "Qwen__Qwen3-Next-80B-A3B-Thinking",
    "Qwen__Qwen3-VL-30B-A3B-Instruct",
    "Qwen__Qwen3.5-35B-A3B",
    "Qwen__Qwen3.5-397B-A17B",
    "Qwen__Qwen3.8-2.4T-A95B",
    "ai21labs__Jamba-v0.1",
    "meituan-longcat__LongCat-Flash-Chat",
    "meta-llama__Llama-4-Maverick-17B-128E-Instruct",
    "nvidia__Nemotron-H-56B-Base-8K",
)


@cache
def read(shared: Path, name: str) -> Arch:
    return read_arch(json.loads((shared / "models" / f"{name}.json").read_bytes()))


def count(shared: Path, name: str) -> Params:
    return count_params(read(shared, name))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_totals(shared: Path, name: str) -> None:
    assert count(shared, name).checkpoint == PUBLISHED[name]


def test_kimi_k3(shared: Path) -> None:
    params = count(shared, "moonshotai__Kimi-K3")
    assert params.checkpoint == KIMI_K3
    assert params.text == KIMI_K3_PLAIN_TEXT + (93 * 4 + 2) * 7168


def test_lookup_tables_are_not_active(shared: Path) -> None:
    # 16 billion are published for DeepSeek V4.1, without its n-gram tables of 196,613,849,600.
    params = count(shared, "deepseek-ai__DeepSeek-V4.1-Flash")
    assert 15e9 < params.active < 18e9


def rank_bytes(arch: Arch, width: int) -> int:
    def total(tensors: Iterable[Tensor]) -> int:
        return sum(cut(tensor, width).params * element_bytes(tensor.dtype or arch.dtype) for tensor in tensors)

    layers = Counter(arch.layers)
    inner = sum(times * total(layer_tensors(layer, arch.hidden)) for layer, times in layers.items())
    return inner + total(outer_tensors(arch)) + sum(total(tower.tensors) for tower in arch.towers)


@pytest.mark.parametrize("name", MEASURED)
def test_shards_are_those_the_engine_creates(shared: Path, name: str) -> None:
    rows = (json.loads(line) for line in (shared / "evidence" / "oracle_vllm.jsonl").read_text().splitlines())
    measured = {
        row["tp"]: row["param_bytes"]
        for row in rows
        if row["model"] == name and row["pp"] == 1 and not row["ep"] and row.get("param_bytes")
    }
    assert measured
    assert {width: rank_bytes(read(shared, name), width) for width in measured} == measured


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"num_mem_blocks": 2}, "num_mem_blocks: 2: no shared attention blocks"),
        ({"conv_L_cache": 3}, "conv_L_cache: 3"),
        ({"layer_group_size": 8}, "layer_group_size: 8"),
        ({"lru_width": 2560}, "lru_width: 2560"),
        ({"altup_num_inputs": 4}, "altup_num_inputs: 4"),
        ({"ple_layer_ids": [3]}, "ple_layer_ids: a list of 1"),
        ({"hc_mult": 4}, "hc_mult: 4: compress_ratios beside it"),
        ({"attn_type_list": [1, 0, 1]}, "attn_type_list: 0"),
    ],
)
def test_unknown_parts_are_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(UnknownKeyError) as refusal:
        hybrid_layers(Config(keys))
    assert words in refusal.value.line


def test_plain_models_are_not_concerned() -> None:
    plain = Config({"model_type": "minimax_m2", "hidden_size": 8, "attn_type_list": [1, 1]})
    assert hybrid_layers(plain) is None
    assert hybrid_layers(Config({"ple_layer_ids": [], "enable_ihc": False, "lru_width": None})) is None
    assert hybrid_outer(plain, "model.") == ()


def test_tensors_behind_the_layers() -> None:
    streams = Config({"hidden_size": 8, "hc_mult": 2})
    assert [tensor.name for tensor in hybrid_outer(streams, "")] == ["hc_head_fn", "hc_head_base", "hc_head_scale"]
    blocks = Config({"hidden_size": 8, "attn_res_block_size": 2})
    assert len(hybrid_outer(blocks, "model.")) == 2
