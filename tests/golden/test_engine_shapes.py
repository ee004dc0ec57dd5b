"""Bytes of a rank by the tensors' split rules against parameter and buffer bytes that vLLM itself allocated.

Only rows without quantisation: there every byte follows from shapes and splits alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tonnage.model.arch import Arch
from tonnage.model.config.arch import read_arch
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.tensor import Tensor
from tonnage.model.tensors import layer_tensors, outer_tensors

BYTES = {"float32": 4, "int32": 4}
VOCAB_STEP = 64
# Four scalars of 32 bits that vLLM registers with each attention layer.
SCALE_BYTES = 16
# Of what remains (norms that one backend keeps whole on each rank), this share is tolerated.
TOLERANCE = 0.001

# The configuration at hand lacks a key that the engine fills from its class: not what the model is.
INCOMPLETE = ("deepseek-ai__DeepSeek-V2-Lite",)
OTHER_BUFFERS = (
    # Runs through the Transformers backend, which keeps inverse frequencies in place of a table.
    "allenai__OLMo-2-0325-32B-Instruct",
    # Keeps a table of 1025 x 48 angles in 32 bits for its vision encoder.
    "meta-llama__Llama-4-Maverick-17B-128E-Instruct",
    # Counts views of its convolution weights once more.
    "nvidia__Nemotron-H-56B-Base-8K",
)


def read_rows(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "evidence" / "oracle_vllm.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["pp"] == 1 and row["model"] not in INCOMPLETE]


def read_model(shared: Path, name: str) -> Arch:
    return read_arch(json.loads((shared / "models" / f"{name}.json").read_text()))


def rank_bytes(tensor: Tensor, tp: int) -> int:
    width = BYTES.get(tensor.dtype or "", 2)
    if tensor.split == "vocab":
        padded = -(-tensor.rows // VOCAB_STEP) * VOCAB_STEP
        return padded // tp * tensor.cols * width
    if tensor.split == "kv":
        units = tensor.units or 1
        return tensor.params // units * max(1, units // tp) * width
    return tensor.params * width // (1 if tensor.split == "none" else tp)


def weights(arch: Arch, tp: int) -> int:
    layers = sum(rank_bytes(tensor, tp) for layer in arch.layers for tensor in layer_tensors(layer, arch.hidden))
    towers = sum(rank_bytes(tensor, tp) for tower in arch.towers for tensor in tower.tensors)
    return layers + towers + sum(rank_bytes(tensor, tp) for tensor in outer_tensors(arch))


def tables(arch: Arch) -> int:
    ropes = sum(rope.positions * rope.dim * BYTES.get(rope.dtype or "", 2) for rope in arch.ropes)
    attentions = sum(isinstance(mixer, (Gqa, Mla)) for layer in arch.layers for mixer in layer.mixers)
    return ropes + SCALE_BYTES * attentions


def test_weights_of_one_rank_and_of_many(shared: Path) -> None:
    rows = [row for row in read_rows(shared) if row["quantization"] is None and not row["ep"]]
    far, exact = {}, 0
    for row in rows:
        error = weights(read_model(shared, row["model"]), row["tp"]) - row["param_bytes"]
        exact += not error
        if abs(error) > TOLERANCE * row["param_bytes"]:
            far[row["model"], row["tp"]] = error
    assert not far
    assert exact > 0.8 * len(rows)


def test_rotary_tables(shared: Path) -> None:
    rows = [row for row in read_rows(shared) if row["tp"] == 1 and row["model"] not in OTHER_BUFFERS]
    wrong = {}
    for row in rows:
        arch = read_model(shared, row["model"])
        error = tables(arch) - row["buffer_bytes"]
        # Gemma adds one scalar of the model's dtype.
        if error not in (0, -2):
            wrong[row["model"]] = error
    assert not wrong
