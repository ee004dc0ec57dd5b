"""Options of a question and remedies as one would type them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from tonnage.plan.question import Question
from tonnage.ui.views.options import FLEET_FIELDS, OPTIONS, change_words

FLEET = {"nodes": 1, "count": 8, "accelerator": "amd-mi300x", "name": "MI300X"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dp_attention": True}, "--dp-attention"),
        ({"kv_cache_dtype": "fp8"}, "--kv-dtype fp8"),
        ({"max_model_len": 13_500}, "--context 13500"),
        ({"tp": 8, "pp": 2, "dp": 1, "ep": False}, "--tp 8 --pp 2"),
        ({"tp": 1, "pp": 1, "dp": 8, "ep": True}, "--tp 1 --dp 8 --ep"),
        ({"nodes": 2, "gpu_count": 16}, "--on 2x8xMI300X"),  # 16 cards over 2 nodes
        ({"gpu": "B200"}, "--on 8xB200"),
        ({"gpu": "H100 SXM5 80GB"}, "--on '8xH100 SXM5 80GB'"),
        ({"gpu": "B200", "quantization": "fp8", "tp": 4}, "--on 8xB200 --tp 4 --precision fp8"),
        ({"gpu": "GeForce RTX 4090", "gpu_count": 2, "nodes": 1}, "--on '2xRTX 4090'"),
        ({}, ""),
    ],
)
def test_change_words(change: dict[str, Any], words: str) -> None:
    assert change_words(change, FLEET) == words


def test_every_option_fills_a_field_of_a_question() -> None:
    known = {field.name for field in fields(Question)}
    assert {option.field for option in OPTIONS} | set(FLEET_FIELDS) <= known


def test_flags_are_those_of_the_contract() -> None:
    stated = (
        "--tp --pp --dp --ep --dcp --dp-attention --precision --kv-dtype --context --concurrency --utilization"
        " --max-num-seqs --max-num-batched-tokens --block-size --eager --mtp --max-loras --max-lora-rank --offload-gib"
        " --kv-bytes --trust"
    )
    assert [option.flag for option in OPTIONS] == stated.split()
