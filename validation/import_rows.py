"""Write the committed rows from files of collected measurements.

For developers. Only facts are taken, in our own schema, and only from rows whose source is a public address:

    python -m validation.import_rows FOLDER [--engine-rows FILE ...]

FOLDER holds `vllm_memory.jsonl`, `vllm_memory_2.jsonl`, `sglang_memory.jsonl`, `llamacpp_memory.jsonl` and
`oracle_vllm.jsonl`; FILE holds more rows of the last kind, as `make_oracle.py` writes them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from validation.rows import FOLDER

Record = dict[str, Any]
SEEN = "2026-11-30"
GIB_FIELDS = {
    "weights_gib_per_rank": "weights_gib",
    "kv_cache_gib_per_rank": "pool_gib",
    "kv_needed_gib": "needed_gib",
    "kv_cache_tokens": "tokens",
    "max_concurrency_x": "concurrency",
    "est_max_model_len": "max_context",
}
QUESTION = (
    "model", "gpu", "gpu_count", "nodes", "engine", "engine_version", "tp", "pp", "dp", "ep", "dcp", "dp_attention",
    "quantization", "kv_cache_dtype", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "block_size",
    "gpu_memory_utilization", "mem_fraction_static", "enforce_eager", "cpu_offload_gb",
)  # fmt: skip
VERDICTS = ("started", "kv_too_small", "oom_load")
ODD = "ODD"  # the collector's mark on a row whose figures contradict each other

# Which published model a file for llama.cpp was made of; headers of such files give only a title.
TITLES = {
    "deepseek": "deepseek-ai/DeepSeek-R1",
    "qwen3 235b a22b": "Qwen/Qwen3-235B-A22B",
    "qwen3 235b a22b 128k": "Qwen/Qwen3-235B-A22B",
    "qwen3 30b a3b": "Qwen/Qwen3-30B-A3B",
    "qwen3 32b": "Qwen/Qwen3-32B",
    "qwen3.8 27b": "Qwen/Qwen3.8-27B",
    "qwen3 coder next": "Qwen/Qwen3-Coder-Next",
    "gemma 3 27b it": "google/gemma-3-27b-it",
    "kimi k2 instruct": "moonshotai/Kimi-K2-Instruct",
    "kimi k2 instruct bf16 safetensors": "moonshotai/Kimi-K2-Instruct",
    "llama nemotron ultra": "nvidia/Llama-3_1-Nemotron-Ultra-253B-v1",
    "minimax m2.5": "MiniMaxAI/MiniMax-M2.5",
    "gpt oss 120b": "openai/gpt-oss-120b",
}
FORKS = ("llama.cpp", "ik_llama.cpp")
CONVERTED = "converted"


def main() -> int:
    """Write all files and print how many rows each holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine-rows", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    folder: Path = args.folder
    logs = [*read(folder / "vllm_memory.jsonl"), *read(folder / "vllm_memory_2.jsonl")]
    write("vllm", published(logs, vllm_row))
    write("sglang", published(read(folder / "sglang_memory.jsonl"), sglang_row))
    write("llamacpp", published(read(folder / "llamacpp_memory.jsonl"), llamacpp_row))
    write("oracle", oracle_rows([folder / "oracle_vllm.jsonl", *args.engine_rows]))
    return 0


def read(path: Path) -> list[Record]:
    """The records of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def write(kind: str, rows: Iterable[Record]) -> None:
    """Replace one file of committed rows."""
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{kind}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{kind}: {len(lines)} lines", file=sys.stderr)


def published(records: Iterable[Record], make: Callable[[Record], Record | None]) -> Iterator[Record]:
    """Rows with a public address that measure something."""
    known: list[tuple[str, Record]] = []
    for record in records:
        address = str(record.get("source_url"))
        row = make(record) if address.startswith(("http://", "https://")) else None
        if row is not None and (row["measured"] or "started" in row) and (address, row) not in known:
            known.append((address, row))
            head = {"id": record["case_id"], "basis": "measured", "source": address, "seen": SEEN}
            yield head | row


def is_askable(record: Record) -> bool:
    """Whether a row names a model and a card and was not marked as contradicting itself."""
    return "/" in str(record.get("model")) and bool(record.get("gpu")) and ODD not in str(record.get("notes"))


def question_of(record: Record, **changes: Any) -> Record:
    """The fields of a question that a record states."""
    return {key: record[key] for key in QUESTION if record.get(key) is not None} | changes


def positive(record: Record, names: dict[str, str]) -> Record:
    """Measured values above zero under our own names."""
    found = ((ours, record.get(theirs)) for theirs, ours in names.items())
    return {name: value for name, value in found if isinstance(value, int | float) and value > 0}


def vllm_row(record: Record) -> Record | None:
    """What one start-up log of vLLM says; `started` only where card share, version and length are known."""
    if not is_askable(record):
        return None
    row: Record = {"question": question_of(record), "measured": positive(record, GIB_FIELDS)}
    known = all(record.get(key) for key in ("gpu_memory_utilization", "engine_version", "max_model_len"))
    if known and record.get("outcome") in VERDICTS:
        row["started"] = record["outcome"] == "started"
    if record.get("outcome") == "kv_too_small" and "pool_gib" in row["measured"] and record.get("max_model_len"):
        row["refused"] = True
    return row


def sglang_row(record: Record) -> Record | None:
    """What one start-up log of SGLang says; its GB are GiB."""
    if not is_askable(record):
        return None
    question = question_of(record, engine="sglang")
    if record.get("context_len"):
        question["max_model_len"] = record["context_len"]
    names = {"weights_gb_per_rank": "weights_gib", "kv_gb": "pool_gib", "kv_tokens": "tokens"}
    return {"question": question, "measured": positive(record, names)}


def llamacpp_row(record: Record) -> Record | None:
    """Size of the file and sum of the cache over all devices of one log of llama.cpp or its near fork.

    Buffers of weights are not added up: where the file is mapped they overlap. Sizes that were converted are left out.
    """
    model = model_of_title(str(record.get("model")))
    if model is None or record["engine"] not in FORKS or CONVERTED in record["notes"]:
        return None
    question: Record = {"model": model, "gpu": "CPU", "engine": "llamacpp"}
    measured: Record = {}
    form = file_type(str(record.get("quant_type")))
    if record.get("file_size") and form is not None:
        question["quantization"] = form
        measured["file_gib"] = float(record["file_size"].split(" GiB")[0])
    caches = [device["kv_mib"] for device in record["buffers"]]
    kind = cache_type(record)
    if caches and None not in caches and record.get("n_ctx") and kind and str(record.get("mla_mode", "3")) != "0":
        question |= {"max_model_len": record["n_ctx"], "kv_cache_dtype": kind}
        measured["kv_mib"] = round(sum(caches), 2)
    return {"question": question, "measured": measured}


def file_type(words: str) -> str | None:
    """`Q4_K - Medium` as `Q4_K_M`; None for what llama.cpp itself does not have or for hand-made mixtures."""
    form, _, size = words.partition(" - ")
    if not re.fullmatch(r"F16|BF16|Q\d_[01K]|IQ\d_(XXS|XS|S|M|NL)", form):
        return None
    return f"{form}_M" if size == "Medium" and form != "Q2_K" else form


def cache_type(record: Record) -> str | None:
    """The type of the cache where it is stated for keys and values; a latent cache has keys only."""
    key, value = record.get("cache_type_k"), record.get("cache_type_v")
    is_latent = record.get("mla_mode") not in (None, "0")
    return key if key and (value == key or (value is None and is_latent)) else None


def model_of_title(title: str) -> str | None:
    """The published model a title means, None if it is not in the table."""
    plain = title.lower().replace("-", " ").replace("_", " ").split(" (")[0].strip()
    if "deepseek" in plain and any(name in plain for name in ("v3", "r1")) and "distill" not in plain:
        return TITLES["deepseek"]
    return TITLES.get(plain)


def oracle_rows(paths: Iterable[Path]) -> Iterator[Record]:
    """Bytes and concurrency that the engine's own modules gave; the first line holds what all rows share."""
    yield {
        "common": {
            "basis": "vLLM 0.32 modules on its CPU platform",
            "source": "https://github.com/vllm-project/vllm/releases/tag/v0.32.0",
            "seen": SEEN,
            "question": {"gpu": "CPU", "engine": "vllm", "engine_version": "0.32.0", "max_num_seqs": 256,
                         "max_num_batched_tokens": 8192, "enforce_eager": True},
        }
    }  # fmt: skip
    known: set[str] = set()
    for path in paths:
        for record in read(path):
            if record.get("weight_bytes") and not record.get("aligned") and not record.get("adapted"):
                row = oracle_row(record)
                if row["id"] not in known:
                    known.add(row["id"])
                    yield row


def oracle_row(record: Record) -> Record:
    """One rank of one layout."""
    sizes = {"tp": record["tp"], "pp": record["pp"], "ep": record["ep"]}
    layout = f"tp{record['tp']}" + (f"pp{record['pp']}" if record["pp"] > 1 else "") + ("ep" if record["ep"] else "")
    name = f"{record['model']}-{layout}-r{record['rank']}-{record['max_model_len']}-{record['kv_cache_dtype']}"
    question = {"model": record["model"].replace("__", "/"), "gpu_count": record["tp"] * record["pp"]} | sizes
    question |= {"max_model_len": record["max_model_len"], "kv_cache_dtype": record["kv_cache_dtype"]}
    measured = {"weights_bytes": record["weight_bytes"], "rank": record["rank"]}
    if record.get("num_blocks"):
        question["kv_cache_memory_bytes"] = record["available_kv_bytes"]
        blocks = {layer["block_size"] for layer in record["kv_layers"]}
        if len(blocks) == 1:
            question["block_size"] = blocks.pop()
        if record.get("max_concurrency") and record["pp"] == 1:
            measured["concurrency"] = record["max_concurrency"]
    return {"id": name, "question": question, "measured": measured}


if __name__ == "__main__":
    sys.exit(main())
