"""Bytes of quantised weights on one rank against the parameter bytes that vLLM itself allocated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tonnage.layout.parts import Piece, gather_parts
from tonnage.model.config.arch import read_arch
from tonnage.model.quantization.formats import stored_bytes
from tonnage.model.quantization.read import read_scheme

BYTES = {"float32": 4, "int32": 4}
VOCAB_STEP = 64
# What remains: fp32 scales of the KV cache, up to 16 B per attention layer, and DBRX's merged expert scales, 56 B less.
SCALES = 64

MODELS = (
    "MiniMaxAI__MiniMax-M2.5",
    "MiniMaxAI__MiniMax-M2.7",
    "Qwen__Qwen3-235B-A22B-FP8",
    "Qwen__Qwen3-30B-A3B-FP8",
    "Qwen__Qwen3-32B-FP8",
    "Qwen__Qwen3.8-2.4T-A95B-FP8",
    "XiaomiMiMo__MiMo-V2-Flash",
    "amd__Llama-3.1-8B-Instruct-FP8-KV",
    "amd__dbrx-instruct-FP8-KV",
    "deepseek-ai__DeepSeek-R1",
    "deepseek-ai__DeepSeek-V3",
    "deepseek-ai__DeepSeek-V3.1",
    "deepseek-ai__DeepSeek-V3.2",
    "deepseek-ai__DeepSeek-V4-Pro",
    "nvidia__Llama-3.1-70B-Instruct-FP8",
    "openai__gpt-oss-120b",
    "openai__gpt-oss-20b",
    "poolside__Laguna-S-2.1-FP8",
)


def measured_bytes(shared: Path, model: str) -> int:
    """Parameter bytes of the run of `model` on a single rank."""
    rows = map(json.loads, (shared / "evidence" / "oracle_vllm.jsonl").read_text().splitlines())
    return next(row["param_bytes"] for row in rows if (row["model"], row["tp"], row["pp"]) == (model, 1, 1))


def piece_bytes(piece: Piece) -> int:
    """Bytes of a tensor: by its format, or its elements with a padded vocabulary."""
    tensor = piece.tensor
    if piece.format is not None:
        return tensor.copies * stored_bytes(piece.format, tensor.rows, tensor.cols)
    rows = -(-tensor.rows // VOCAB_STEP) * VOCAB_STEP if tensor.split == "vocab" else tensor.rows
    return rows * tensor.cols * tensor.copies * BYTES.get(tensor.dtype or "", 2)


def computed_bytes(shared: Path, model: str) -> tuple[int, int]:
    """Bytes of all weights of `model` without its draft, and its number of layers."""
    folder = shared / "models"
    config = json.loads((folder / f"{model}.json").read_text())
    beside = folder / f"{model}.hf_quant_config.json"
    separate = json.loads(beside.read_text()) if beside.is_file() else None
    arch = replace(read_arch(config), scheme=read_scheme(config, separate))
    parts = gather_parts(arch)
    pieces = [piece for index in parts.class_of for piece in parts.classes[index]]
    total = sum(map(piece_bytes, (*pieces, *parts.towers, *parts.first, *parts.embedding, *parts.last)))
    return total, len(arch.layers)


@pytest.mark.parametrize("model", MODELS)
def test_quantised_weights_are_exact_up_to_cache_scales(shared: Path, model: str) -> None:
    total, layers = computed_bytes(shared, model)
    assert abs(total - measured_bytes(shared, model)) <= SCALES * layers


def test_kimi_k2_is_as_large_as_published(shared: Path) -> None:
    # the index file of K2.6, which has K2.5's shapes: int4 experts in groups of 32, a shape of 8 B beside each matrix
    assert computed_bytes(shared, "moonshotai__Kimi-K2.5")[0] == 595_148_192_736
