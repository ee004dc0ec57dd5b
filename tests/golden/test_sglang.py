"""Weights and tokens of published SGLang starts, computed from what each start states about itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.catalog.find import find_accelerator
from tonnage.catalog.load import Catalog
from tonnage.engines.sglang.engine import make_sglang
from tonnage.layout.layout import Layout
from tonnage.layout.parts import Parts, gather_parts
from tonnage.layout.widths import Widths
from tonnage.memory.engine import Limits
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import weigh
from tonnage.model.config.arch import read_arch
from tonnage.model.quantization.read import read_scheme

GIB = 2**30
FILES = {"google/gemma-4-26B-A4B-it": "google__gemma-4-26B-A4B"}
# Rows whose weights this tool does not explain, with what is known about them.
UNEXPLAINED = {
    "sgl-a108a8c1c4": "the experts stand twice, or in 16 bit, on each rank (166.6 = 90.4 + 76.1 GiB)",
    "sgl-abc9f2cb1c": "counts the weights of a draft",
    "sgl-c2c2849609": "unified memory, peak of loading",
    "sgl-c5fdfb812e": "decimal gigabytes of the files divided by eight, no log",
}
WEIGHTS_TOLERANCE, TOKENS_TOLERANCE = 0.03, 0.03


def read_rows(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "evidence" / "sglang_memory.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def read_parts(shared: Path, name: str | None) -> Parts | None:
    stem = FILES.get(name or "", (name or "").replace("/", "__"))
    path = shared / "models" / f"{stem}.json"
    if not path.exists():
        return None
    config = json.loads(path.read_text())
    quant = shared / "models" / f"{stem}.hf_quant_config.json"
    separate = json.loads(quant.read_text()) if quant.exists() else None
    return gather_parts(read_arch(config, read_scheme(config, separate)))


def layout_of(row: dict[str, Any]) -> Layout:
    inside = bool(row["dp_attention"])
    return Layout(row["tp"] or 1, row["pp"] or 1, (row["dp"] or 1) if inside else 1, bool(row["ep"]), 1, inside)


def view_of(row: dict[str, Any], parts: Parts, card: Accelerator, kv_bytes: int | None = None) -> RankView:
    engine, layout = make_sglang(row["engine_version"], card), layout_of(row)
    limits = Limits(
        max_model_len=row["context_len"], max_num_seqs=row["max_running_requests"], kv_dtype=row["kv_cache_dtype"],
        fraction=row["mem_fraction_static"], kv_bytes=kv_bytes,
    )  # fmt: skip
    serving = engine.serving(parts, layout, limits)
    stage = engine.stages(len(parts.arch.layers), layout)[0]
    return RankView(
        0, parts, layout, engine.widths(layout), stage, True, layout.pp == 1, True, layout.pp == 1, 0, card,
        card.capacity_bytes, serving,
    )  # fmt: skip


def weights(view: RankView, version: str | None) -> float:
    engine = make_sglang(version, view.card)
    weighed = weigh(view, engine.store(view.parts.arch))
    return (weighed.total + engine.buffers(view, weighed)) / GIB


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


def known_rows(shared: Path, catalog: Catalog) -> list[tuple[dict[str, Any], Parts, Accelerator]]:
    found = []
    for row in read_rows(shared):
        parts = read_parts(shared, row["model"])
        if parts is not None and row["gpu"] not in (None, "not shown"):
            found.append((row, parts, find_accelerator(catalog, row["gpu"], 64 * GIB)))
    return found


def test_weights_per_rank(shared: Path, catalog: Catalog) -> None:
    far, seen = {}, 0
    for row, parts, card in known_rows(shared, catalog):
        logged = row["weights_gb_per_rank"]
        if logged is None or row["case_id"] in UNEXPLAINED:
            continue
        seen += 1
        expected = weights(view_of(row, parts, card), row["engine_version"])
        if abs(expected - logged) > WEIGHTS_TOLERANCE * logged:
            far[row["case_id"], row["model"]] = (round(expected, 2), logged)
    assert not far
    assert seen >= 6


def test_tokens_of_a_given_pool(shared: Path, catalog: Catalog) -> None:
    far, seen = {}, 0
    for row, parts, card in known_rows(shared, catalog):
        if row["kv_gb"] is None or row["kv_tokens"] is None:
            continue
        seen += 1
        size = int(row["kv_gb"] * GIB)
        view = view_of(row, parts, card, size)
        tokens = make_sglang(row["engine_version"], card).plan_pool(view, size).tokens
        if abs(tokens - row["kv_tokens"]) > TOKENS_TOLERANCE * row["kv_tokens"]:
            far[row["case_id"], row["model"]] = (tokens, row["kv_tokens"])
    assert not far
    assert seen >= 5


def test_pool_from_what_was_free(shared: Path, catalog: Catalog) -> None:
    """The pool of rows that state fraction and free memory before and after loading: rest = A - B x (1 - f)."""
    far, seen = {}, 0
    for row, parts, card in known_rows(shared, catalog):
        before, after, fraction = row["avail_before_gb"], row["avail_after_weights_gb"], row["mem_fraction_static"]
        if None in (before, after, fraction, row["kv_tokens"]):
            continue
        seen += 1
        rest = int((after - before * (1 - fraction)) * GIB)
        tokens = make_sglang(row["engine_version"], card).plan_pool(view_of(row, parts, card), rest).tokens
        if abs(tokens - row["kv_tokens"]) > 0.001 * row["kv_tokens"]:
            far[row["case_id"], row["model"]] = (tokens, row["kv_tokens"])
    assert not far
    assert seen >= 3


def test_automatic_fractions(shared: Path, catalog: Catalog) -> None:
    """Starts without the flag print the value they settled on."""
    stated = {"sgl-b1ee06caba": 0.908, "sgl-d98d9a9866": 0.82604, "sgl-aa86100abd": 0.8388}
    found = {}
    for row, parts, card in known_rows(shared, catalog):
        if row["case_id"] in stated:
            view = view_of(row | {"mem_fraction_static": None}, parts, card)
            found[row["case_id"]] = view.serving.fraction
    assert found == pytest.approx(stated, abs=0.0015)


# Attention in eight replicas, experts whole with 32 spare ones, all else whole too (DeepEP with dense parts and head
# replicated): a Hopper start of May 2025 logs 105.59 GiB on each rank of DeepSeek V3.
REPLICAS = Widths(1, 1, 1, 1, 1, 1, 1, 8)


def test_two_reports_of_data_parallel_attention(shared: Path, catalog: Catalog) -> None:
    parts = read_parts(shared, "deepseek-ai/DeepSeek-R1")
    assert parts is not None
    card = find_accelerator(catalog, "H200")
    layout = Layout(8, 1, 8, True, 1, True, 32)
    engine = make_sglang("0.4.7", card)
    view = RankView(
        0, parts, layout, REPLICAS, range(61), True, True, True, True, 0, card, card.capacity_bytes,
        engine.serving(parts, layout, Limits()),
    )  # fmt: skip
    assert weights(view, "0.4.7") == pytest.approx(105.59, rel=0.005)
    # A ROCm start of July 2025 logs 166.59: attention in replicas, and the cut experts twice.
    rocm = find_accelerator(catalog, "MI300X")
    shape = Layout(8, 1, 8, False, 1, True)
    engine = make_sglang("0.4.8", rocm)
    view = RankView(
        0, parts, shape, engine.widths(shape), range(61), True, True, True, True, 0, rocm, rocm.capacity_bytes,
        engine.serving(parts, shape, Limits()),
    )  # fmt: skip
    experts = weigh(view, engine.store(parts.arch)).by_group["experts"] / GIB
    assert weights(view, "0.4.8") + experts == pytest.approx(166.59, rel=0.005)
