"""Ask vLLM's own model classes and cache planner what a configuration costs, without weights.

For developers. Runs inside the engine's environment (tests/real/install_vllm.sh), needs nothing else of
the project. The engine is imported once; every row is made in a forked child, which builds one rank's
model on torch's meta device under a fake process group, adds up parameters and buffers and lets the engine
plan a cache. One JSON row per layout and cache type on standard output:

    PYTHON validation/make_oracle.py CONFIG.json... --layout tp8 --layout tp8ep --layout tp4pp2r7 --kv fp8

The platform is the CPU. Where it has no kernel for an attention or a quantisation the check is bypassed
(oracle_bypass, oracle_kernels): shapes and bytes are meant then, not that a CPU could run the model.
Without --align the blocks are those before the engine evens out attention and state layers, with it those
a started engine uses.
"""

import argparse
import json
import os
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracle_bypass
import oracle_folder
from oracle_job import Job, Layout
from oracle_row import ERROR_CHARACTERS, GIB, measure

# The pool every row is planned for: enough for one request of most models.
POOL_BYTES = 20 * GIB
# Layouts whose tensors are worth keeping.
KEPT = (Layout(1), Layout(8))


def refuse(job: Job, error: BaseException) -> dict[str, Any]:
    """Return a row with the engine's own words and the line they come from."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename.split('site-packages/')[-1]}:{frames[-1].lineno}" if frames else None
    layout = job.layout
    row = {"model": job.name, "tp": layout.tp, "pp": layout.pp, "ep": layout.ep, "rank": layout.rank}
    row |= {"kv_cache_dtype": job.kv_cache_dtype, "max_model_len": job.max_model_len}
    row |= {"error": f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]}
    return row | {"where": where}


def run_child(job: Job, pipe: int) -> None:
    """Write the row to the pipe and leave without the interpreter's clean-up."""
    try:
        row = measure(job)
    except BaseException as error:  # noqa: BLE001 - whatever the engine raises is the answer
        row = refuse(job, error)
    with os.fdopen(pipe, "w") as out:
        json.dump(row, out)
    os._exit(0)


def run_forked(job: Job) -> dict[str, Any]:
    """Measure in a child, so that one layout's global state does not reach the next."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        run_child(job, write)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    row: dict[str, Any] = json.loads(text) if text else refuse(job, ChildProcessError("the child died"))
    return row


def context_limit(config: Path) -> int | None:
    """Return the longest context a stored configuration allows, if it says so."""
    body = json.loads(config.read_text())
    text = body.get("text_config") or body
    limit = text.get("max_position_embeddings") or text.get("n_positions")
    return int(limit) if limit else None


def plan_jobs(config: Path, folder: Path, args: argparse.Namespace) -> Iterator[Job]:
    """Return one job per layout and cache type."""
    context = min(args.max_model_len, context_limit(config) or args.max_model_len)
    for layout in args.layout or [Layout()]:
        for kv in args.kv or ["auto"]:
            kept = args.tensors and layout in KEPT and kv == "auto"
            tensors = args.tensors / f"{config.stem}__tp{layout.tp}.json" if kept else None
            yield Job(config.stem, folder, layout, context, kv, args.pool_bytes, args.align, tensors)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("configs", nargs="+", type=Path)
    parser.add_argument("--layout", action="append", type=Layout.parse)
    parser.add_argument("--kv", action="append", metavar="DTYPE")
    parser.add_argument("--max-model-len", type=int, default=32768)
    parser.add_argument("--pool-bytes", type=int, default=POOL_BYTES)
    parser.add_argument("--align", action="store_true", help="even out the blocks of attention and state layers")
    parser.add_argument("--tensors", type=Path, metavar="FOLDER", help="keep names and shapes of tp1 and tp8")
    return parser.parse_args()


def main() -> None:
    """Print one JSON row per configuration, layout and cache type."""
    args = parse()
    oracle_bypass.prepare_engine()
    with tempfile.TemporaryDirectory() as scratch:
        for config in args.configs:
            folder, adapted = oracle_folder.lay_out(config, Path(scratch))
            for job in plan_jobs(config, folder, args):
                print(json.dumps(run_forked(job) | ({"adapted": True} if adapted else {})), flush=True)


if __name__ == "__main__":
    main()
