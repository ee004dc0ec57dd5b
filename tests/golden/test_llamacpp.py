"""Files and caches of published llama.cpp and ik_llama.cpp starts, computed from what each start states."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.llamacpp.build import Build
from tonnage.engines.llamacpp.compute import compute_bytes
from tonnage.engines.llamacpp.engine import make_llamacpp
from tonnage.engines.llamacpp.placement import split_layers
from tonnage.engines.llamacpp.pool import cache_of
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.layout.widths import plain_widths
from tonnage.memory.rank_view import RankView
from tonnage.memory.serving import Serving
from tonnage.memory.weights import weigh
from tonnage.model.arch import Arch
from tonnage.model.config.arch import read_arch
from tonnage.model.quantization.ggml import ggml_scheme
from tonnage.value import replace

GIB, MIB = 2**30, 2**20
# How the starts call a model -> its configuration, most specific first.
MODELS = (
    (r"kimi.?k2", "moonshotai__Kimi-K2-Instruct"),
    (r"deepseek.?(r1|v3)(?!.*distill)", "deepseek-ai__DeepSeek-R1"),
    (r"qwen3.?235b", "Qwen__Qwen3-235B-A22B"),
    (r"qwen3.?30b", "Qwen__Qwen3-30B-A3B"),
    (r"qwen3.?32b", "Qwen__Qwen3-32B"),
    (r"llama v2", "meta-llama__Llama-2-13b-hf"),
)
# File types with one mix; the IQ names of the fork and others with the same name are custom builds.
TYPES = {
    "Q8_0": "q8_0", "Q8_0_R8 - 8.5 bpw": "q8_0", "Q6_K": "q6_k", "Q5_K - Medium": "q5_k_m", "Q4_0": "q4_0",
    "Q4_K - Medium": "q4_k_m",
}  # fmt: skip
# A header that says Q8_0 or Q4_K with fewer bits than the type has is a dynamic build.
LEAST_BITS = {"Q8_0": 8.4, "Q4_K - Medium": 4.8}
CARD = Accelerator("card", "card", "nvidia", "consumer", 96 * GIB, "datasheet", "datasheet", ("test",), None)


def read_rows(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "evidence" / "llamacpp_memory.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def read_model(shared: Path, name: str | None) -> Arch | None:
    found = next((stem for pattern, stem in MODELS if re.search(pattern, (name or "").lower().replace("_", " "))), None)
    path = shared / "models" / f"{found}.json"
    return read_arch(json.loads(path.read_text())) if found and path.exists() else None


def view_of(arch: Arch, row: dict[str, Any], devices: int = 1, device: int = 0) -> RankView:
    keys, values = row["cache_type_k"] or "f16", row["cache_type_v"] or "f16"
    serving = Serving(row["n_ctx"] or 512, 1, row["n_ubatch"] or 512, None, f"{keys}/{values}")
    layout = Layout(pp=devices)
    return RankView(
        device, gather_parts(arch), layout, plain_widths(layout), split_layers(len(arch.layers), devices)[device],
        device == 0, device == devices - 1, True, device == devices - 1, 0, CARD, 96 * GIB, serving,
    )  # fmt: skip


def build_of(row: dict[str, Any]) -> Build:
    """The build, with the fork's mode of latent attention."""
    if row["engine"] != "ik_llama.cpp":
        return make_llamacpp(None, CARD).build
    return make_llamacpp(f"ik_llama.cpp mla={row['mla_mode'] or 3}", CARD).build


def stated_gib(row: dict[str, Any]) -> float | None:
    match = re.match(r"([\d.]+) GiB \(([\d.]+) BPW\)", row["file_size"] or "")
    if match is None or float(match[2]) < LEAST_BITS.get(row["quant_type"], 0):
        return None
    return float(match[1])


def kv_mib(row: dict[str, Any]) -> float:
    return sum(buffer["kv_mib"] or 0 for buffer in row["buffers"])


def test_sizes_of_files(shared: Path) -> None:
    """The file is the sum of its tensors; the fork's files of 672 B parameters hold the latent's projection twice."""
    far, seen = {}, 0
    for row in read_rows(shared):
        arch, size = read_model(shared, row["model"]), stated_gib(row)
        if arch is None or size is None or row["quant_type"] not in TYPES:
            continue
        seen += 1
        quantised = replace(arch, scheme=ggml_scheme(TYPES[row["quant_type"]], len(arch.layers)))
        view = view_of(quantised, row)
        expected = weigh(view, make_llamacpp(None, CARD).store(quantised)).total / GIB
        if abs(expected - size) > 0.01 * size:
            far[row["case_id"], row["model"], row["quant_type"]] = (round(expected, 3), size)
    assert not far
    assert seen >= 15


def test_buffers_add_up_to_the_file(shared: Path) -> None:
    """Where nothing is mapped, model buffers over all devices are the file: what is on no device is on the host."""
    errors = []
    for row in read_rows(shared):
        size = stated_gib(row)
        buffers = [buffer for buffer in row["buffers"] if buffer["model_mib"]]
        if size is None or any("Mapped" in buffer["device"] for buffer in buffers):
            continue
        total = sum(buffer["model_mib"] for buffer in buffers) / 1024
        errors.append(abs(total / size - 1))
    assert len(errors) >= 30
    assert median(errors) < 0.001


# The header's mode contradicts the buffer: the latent was cached.
LATENT_DESPITE_MODE = {"Deepseek-V3-0324"}


def cached_type(row: dict[str, Any], expected: int) -> bool:
    """Whether the buffer is that of the stated types, or of the other common ones where none is stated."""
    return abs(kv_mib(row) * MIB - expected) <= 0.01 * kv_mib(row) * MIB


def test_caches(shared: Path) -> None:
    """KV buffers from context, types and mode. Rows that state no type are f16 or q8_0, whichever the buffer shows."""
    far, seen = {}, 0
    for row in read_rows(shared):
        arch = read_model(shared, row["model"])
        if arch is None or not row["n_ctx"] or not kv_mib(row) or row["engine"] not in ("llama.cpp", "ik_llama.cpp"):
            continue
        if row["model"] in LATENT_DESPITE_MODE and row["mla_mode"] == "0":
            row["mla_mode"] = "3"
        seen += 1
        choices = [row] if row["cache_type_k"] else [row | {"cache_type_k": kind} for kind in ("f16", "q8_0")]
        sizes = [cache_of(build_of(row), view_of(arch, one)).bytes(row["n_ctx"]) for one in choices]
        if not any(cached_type(row, size) for size in sizes):
            far[row["case_id"], row["model"]] = ([round(size / MIB, 1) for size in sizes], kv_mib(row))
    assert not far
    assert seen >= 45


def test_layers_and_caches_of_two_equal_cards(shared: Path) -> None:
    """Two T4 with Qwen3 30B: the cache of 25 and 23 layers, weights without the embedding table."""
    row = next(row for row in read_rows(shared) if row["case_id"] == "lcpp-7c0f1c9a59")
    arch = read_model(shared, row["model"])
    assert arch is not None
    found = [cache_of(build_of(row), view_of(arch, row, 2, device)).bytes(32_768) / MIB for device in (0, 1)]
    assert found == [1600.0, 1472.0]


def test_compute_buffers(shared: Path) -> None:
    """Buffers of the last card, without latent attention: the formula is within its band for nine of ten."""
    ratios = []
    for row in read_rows(shared):
        arch = read_model(shared, row["model"])
        cards = [b for b in row["buffers"] if b["device"].startswith(("CUDA", "ROCm")) and b["device"][4:].isdigit()]
        sizes = [buffer["compute_mib"] for buffer in cards if buffer["compute_mib"] and buffer["model_mib"]]
        if arch is None or not sizes or not row["n_ctx"] or arch.family.startswith(("deepseek", "kimi")):
            continue
        expected = compute_bytes(build_of(row), view_of(arch, row), row["flash_attn"] == "1")
        ratios.append(max(sizes) * MIB / expected)
    assert len(ratios) >= 15
    ratios.sort()
    assert ratios[len(ratios) // 10] > 0.5
    assert ratios[len(ratios) * 9 // 10] < 2.5


@pytest.mark.parametrize(("mode", "mib"), [(0, 2440.0), (1, 64.8), (3, 34.3)])
def test_modes_of_the_fork(shared: Path, mode: int, mib: float) -> None:
    """DeepSeek R1 at 512 tokens: expanded 2,440 MiB as logged; latent and values 61 x 2,176 B; latent 61 x 1,152 B."""
    arch = read_model(shared, "DeepSeek R1")
    assert arch is not None
    row = {"cache_type_k": None, "cache_type_v": None, "n_ctx": 512, "n_ubatch": 512}
    build = make_llamacpp(f"ik_llama.cpp mla={mode}", CARD).build
    assert round(cache_of(build, view_of(arch, row)).bytes(512) / MIB, 1) == mib
