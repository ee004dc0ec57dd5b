"""Start the real engine on configurations without weights and say what it planned.

Runs inside the engine's environment (see install_vllm.sh), not inside the project's:

    PYTHON measure.py FOLDER... --context N --kv-bytes N [--kv-dtype D] [--max-num-batched-tokens N]

The engine is imported once; every folder is served in a forked child of its own by the engine's own core
(configuration, worker, model with dummy weights, cache planning, cache allocation), which is then thrown
away. One JSON line per folder on standard output, with the engine's log in it.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import types
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

SETTINGS = {
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the core in this process, where the model can be looked at
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}

# Imported by the files of families that can also see, needed by nothing that is measured here.
STAND_INS = ("torchvision", "torchvision.transforms", "torchvision.transforms.v2")


def stand_in(name: str) -> None:
    """Register a module of which every attribute exists and does nothing."""
    module = types.ModuleType(name)
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    module.__dict__["__getattr__"] = lambda attribute: MagicMock(name=attribute)
    sys.modules[name] = module


def prepare_engine() -> None:
    """Import the engine once, and let it look at model classes in this process: another one costs seconds."""
    import vllm.entrypoints.llm
    import vllm.v1.worker.cpu_worker  # noqa: F401
    from vllm.model_executor.models import registry

    registry._run_in_subprocess = lambda inspect: inspect()
    for name in STAND_INS:
        stand_in(name)


def note_loaded_bytes(noted: dict[str, int]) -> None:
    """Have the bytes of the loaded model noted before the CPU's kernels repack and hide its weights."""
    from vllm.model_executor.model_loader import base_loader

    repack = base_loader.process_weights_after_loading

    def note(model: Any, *args: Any) -> None:
        noted["param_bytes"] = storage_bytes(model.parameters())
        noted["weight_bytes"] = storage_bytes([*model.parameters(), *model.buffers()])
        repack(model, *args)

    base_loader.process_weights_after_loading = note


def storage_bytes(tensors: Iterable[Any]) -> int:
    """Return the bytes of distinct storages; a tied tensor or a view of another one costs nothing."""
    storages = (tensor.untyped_storage() for tensor in tensors)
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def describe_group(group: Any) -> dict[str, Any]:
    """Return kind, layers, block size in tokens and page size in bytes of one cache group."""
    spec = group.kv_cache_spec
    return {
        "kind": type(spec).__name__,
        "layers": len(group.layer_names),
        "block_size": spec.block_size,
        "page_bytes": spec.page_size_bytes,
    }


def start(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Start the engine on one folder and return what it holds and planned."""
    from vllm import LLM

    noted: dict[str, int] = {}
    note_loaded_bytes(noted)
    llm = LLM(
        model=str(folder), load_format="dummy", skip_tokenizer_init=True, dtype="bfloat16", enforce_eager=True,
        max_model_len=args.context, kv_cache_memory_bytes=args.kv_bytes, kv_cache_dtype=args.kv_dtype,
        max_num_batched_tokens=args.max_num_batched_tokens, max_num_seqs=args.max_num_seqs,
    )  # fmt: skip
    return noted | read_plan(llm.llm_engine)


def read_plan(engine: Any) -> dict[str, Any]:
    """Return blocks, groups and the two numbers the engine logs."""
    plan = engine.engine_core.engine_core.scheduler.kv_cache_config
    cache = engine.vllm_config.cache_config
    return {
        "num_blocks": plan.num_blocks,
        "groups": [describe_group(group) for group in plan.kv_cache_groups],
        "kv_cache_tokens": cache.kv_cache_size_tokens,
        "max_concurrency": cache.kv_cache_max_concurrency,
        "max_num_batched_tokens": engine.vllm_config.scheduler_config.max_num_batched_tokens,
    }


def refuse(error: BaseException) -> dict[str, Any]:
    """Return the engine's own words for a configuration it does not start."""
    return {"error": f"{type(error).__name__}: {error}"}


def serve_in_child(folder: Path, args: argparse.Namespace, log: Path) -> dict[str, Any]:
    """Fork, start the engine in the child with its output in `log`, and return the child's row."""
    row_file = log.with_suffix(".json")
    pid = os.fork()
    if pid == 0:
        run_child(folder, args, log, row_file)
    os.waitpid(pid, 0)
    return json.loads(row_file.read_text()) if row_file.exists() else {"error": "the engine's process died"}


def run_child(folder: Path, args: argparse.Namespace, log: Path, row_file: Path) -> None:
    """Do the child's work and leave without the interpreter's clean-up, which would wait for threads."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    try:
        row = start(folder, args)
    except BaseException as error:  # noqa: BLE001 - whatever the engine raises is the answer
        row = refuse(error)
    row_file.write_text(json.dumps(row))
    os._exit(0)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--kv-bytes", type=int, required=True)
    parser.add_argument("--max-num-batched-tokens", type=int)
    parser.add_argument("--max-num-seqs", type=int)
    parser.add_argument("--kv-dtype", default="auto")
    return parser.parse_args()


def main() -> None:
    """Print one JSON line per folder."""
    args = parse()
    os.environ.update(SETTINGS)
    prepare_engine()
    with tempfile.TemporaryDirectory() as scratch:
        for folder in args.folders:
            log = Path(scratch) / f"{folder.name}.log"
            began = time.monotonic()
            row = serve_in_child(folder, args, log)
            row |= {
                "name": folder.name,
                "seconds": round(time.monotonic() - began, 1),
                "log": log.read_text() if log.exists() else "",
            }
            print(json.dumps(row), flush=True)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
