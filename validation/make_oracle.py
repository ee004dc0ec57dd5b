"""Ask vLLM's own model classes and KV planner what a configuration costs, without weights.

For developers: needs the engine environment (see tests/real/install_vllm.sh), nothing else of the
project does. Every (model, layout) runs in a forked child: the parent has imported the engine once, the
child builds one rank's model on torch's meta device under a fake process group, adds up parameters and
buffers, and lets the engine plan a KV pool of the size given. One JSON row per layout on standard output.

    python validation/make_oracle.py CONFIG.json --layout tp8 --layout tp8ep --layout tp4pp2r7 --max-model-len 32768
"""

import argparse
import json
import os
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GIB = 2**30
# The pool every row is planned for; large enough for one request of most models.
POOL_BYTES = 20 * GIB


@dataclass(frozen=True, slots=True)
class Layout:
    """One rank of one parallel layout."""

    tp: int = 1
    pp: int = 1
    ep: bool = False
    rank: int = 0
    dp: int = 1

    @classmethod
    def parse(cls, text: str) -> "Layout":
        """Read `tp8`, `tp8ep`, `tp4pp2r7`, `tp1dp8ep`."""
        import re

        m = re.fullmatch(r"tp(\d+)(?:pp(\d+))?(?:dp(\d+))?(ep)?(?:r(\d+))?", text)
        if m is None:
            raise SystemExit(f"error: layout: {text}: such as tp8, tp8ep, tp4pp2r7")
        tp, pp, dp, ep, rank = m.groups()
        return cls(int(tp), int(pp or 1), bool(ep), int(rank or 0), int(dp or 1))


@dataclass(frozen=True, slots=True)
class Job:
    """A model folder, one rank of a layout, and the serving options that change the plan."""

    name: str
    folder: Path
    layout: Layout
    max_model_len: int
    kv_cache_dtype: str = "auto"
    pool_bytes: int = POOL_BYTES
    block_size: int | None = None
    align: bool = False
    options: dict[str, Any] = field(default_factory=dict)


def engine_config(job: Job) -> Any:
    """Return the engine's own configuration object for a job."""
    from vllm.engine.arg_utils import EngineArgs

    args = EngineArgs(
        model=str(job.folder),
        skip_tokenizer_init=True,
        load_format="dummy",
        dtype="bfloat16",
        max_model_len=job.max_model_len,
        kv_cache_dtype=job.kv_cache_dtype,
        tensor_parallel_size=job.layout.tp,
        pipeline_parallel_size=job.layout.pp,
        data_parallel_size=job.layout.dp,
        enable_expert_parallel=job.layout.ep,
        distributed_executor_backend="mp",
        enforce_eager=True,
        max_num_seqs=256,
        max_num_batched_tokens=8192,
        block_size=job.block_size,
        **job.options,
    )
    return args.create_engine_config()


def enter_world(config: Any, layout: Layout) -> None:
    """Make this process `layout.rank` of a world in which nobody else exists."""
    import torch
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from vllm.distributed import parallel_state as ps

    world = layout.tp * layout.pp * layout.dp
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=layout.rank, world_size=world)
    ps.init_distributed_environment(world, layout.rank, "fake://", layout.rank, "fake")
    ps.initialize_model_parallel(layout.tp, layout.pp, backend="fake")


def build(config: Any) -> Any:
    """Return the rank's model on the meta device."""
    import torch
    from vllm.model_executor.model_loader.utils import initialize_model
    from vllm.utils.torch_utils import set_default_torch_dtype

    with set_default_torch_dtype(config.model_config.dtype), torch.device("meta"):
        return initialize_model(vllm_config=config)


def storage_bytes(named: Any) -> int:
    """Return the bytes of distinct tensors."""
    seen: dict[int, Any] = {id(t): t for _, t in named}
    return sum(t.numel() * t.element_size() for t in seen.values())


def host_bytes(model: Any) -> int:
    """Return the bytes of tables that the engine keeps in host memory by default."""
    held = [m for m in model.modules() if getattr(m, "cpu_offload", False) is True]
    return sum(storage_bytes(m.named_parameters()) for m in held)


def tensor_rows(model: Any) -> list[dict[str, Any]]:
    """Return name, shape and dtype of every parameter and buffer."""
    rows = []
    for kind, named in (("param", model.named_parameters()), ("buffer", model.named_buffers())):
        for name, t in named:
            dtype = str(t.dtype).removeprefix("torch.")
            rows.append({"kind": kind, "name": name, "shape": list(t.shape), "dtype": dtype,
                         "bytes": t.numel() * t.element_size()})
    return rows


def kv_specs(config: Any) -> dict[str, Any]:
    """Return the cache spec of every layer that has one, as the engine's worker does."""
    from vllm.config import set_current_vllm_config
    from vllm.v1.worker.gpu.attn_utils import get_kv_cache_spec

    with set_current_vllm_config(config):
        return dict(get_kv_cache_spec(config))


def summarize_specs(specs: dict[str, Any]) -> list[dict[str, Any]]:
    """Count the layers of each cache shape, in order of first appearance."""
    counted: dict[tuple[str, int, int], int] = {}
    for spec in specs.values():
        key = (type(spec).__name__, spec.block_size, spec.page_size_bytes)
        counted[key] = counted.get(key, 0) + 1
    return [{"kind": k, "block_size": b, "page_bytes": p, "layers": n} for (k, b, p), n in counted.items()]


def plan_cache(config: Any, specs: dict[str, Any], pool_bytes: int) -> dict[str, Any]:
    """Run the engine's planner over one rank's specs and return blocks, groups and logged numbers."""
    from vllm.v1.core import kv_cache_utils as kv

    plan = kv.get_kv_cache_configs(config, [specs], [pool_bytes])[0]
    scheduler = kv.generate_scheduler_kv_cache_config([plan])
    tokens, concurrency = kv.get_kv_cache_capacity(config, scheduler)
    return {"available_kv_bytes": pool_bytes, "num_blocks": plan.num_blocks, "groups": len(plan.kv_cache_groups),
            "kv_tokens_logged": tokens, "max_concurrency": round(concurrency, 4)}


def resolve_layout(config: Any, specs: dict[str, Any]) -> None:
    """Adopt the cache memory layout that all attention back ends accept, as the engine core does."""
    from vllm.config import set_current_vllm_config
    from vllm.distributed.kv_transfer.kv_connector.utils import get_current_attn_backends
    from vllm.v1.attention.backends.utils import get_supported_kv_cache_layouts, resolve_kv_cache_layout
    from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs

    register_all_kvcache_specs(config)
    with set_current_vllm_config(config):
        names = [layout.name for layout in get_supported_kv_cache_layouts(get_current_attn_backends(config))]
        resolve_kv_cache_layout(config, [names], list(specs.values()))


def identity(job: Job, config: Any) -> dict[str, Any]:
    """Return the columns that say what was asked."""
    import vllm

    return {"model": job.name, "engine": "vllm", "engine_version": vllm.__version__,
            "arch": config.model_config.architecture, "tp": job.layout.tp, "pp": job.layout.pp, "ep": job.layout.ep,
            "rank": job.layout.rank, "max_model_len": config.model_config.max_model_len,
            "kv_cache_dtype": job.kv_cache_dtype, "dtype": str(config.model_config.dtype).removeprefix("torch."),
            "quantization": config.model_config.quantization}


def measure(job: Job, tensors: Path | None) -> dict[str, Any]:
    """Build one rank and return its row."""
    from vllm.config import set_current_vllm_config
    from vllm.platforms import current_platform

    config = engine_config(job)
    row = identity(job, config)
    with set_current_vllm_config(config):
        enter_world(config, job.layout)
        model = build(config)
    params, buffers = storage_bytes(model.named_parameters()), storage_bytes(model.named_buffers())
    row |= {"param_bytes": params, "buffer_bytes": buffers, "weight_bytes": params + buffers,
            "weights_gib": round((params + buffers) / GIB, 3)}
    if host := host_bytes(model):
        row["host_bytes"] = host
    if tensors is not None:
        tensors.write_text(json.dumps(tensor_rows(model)))
    if job.align:
        current_platform.update_block_size_for_backend(config)
    try:
        specs = kv_specs(config)
        row["kv_layers"] = summarize_specs(specs)
        if job.layout.pp == 1:
            resolve_layout(config, specs)
            row |= plan_cache(config, specs, job.pool_bytes)
    except Exception as error:
        row["kv_error"] = f"{type(error).__name__}: {error}"[:600]
        if os.environ.get("ORACLE_TRACE"):
            traceback.print_exc()
    return row


def run_forked(job: Job, tensors: Path | None) -> dict[str, Any]:
    """Measure in a child, so that one layout's global state does not reach the next."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            row = measure(job, tensors)
        except BaseException as error:
            if os.environ.get("ORACLE_TRACE"):
                traceback.print_exc()
            last = traceback.extract_tb(error.__traceback__)[-1]
            row = {"model": job.name, "tp": job.layout.tp, "pp": job.layout.pp, "ep": job.layout.ep,
                   "rank": job.layout.rank, "kv_cache_dtype": job.kv_cache_dtype, "max_model_len": job.max_model_len,
                   "error": f"{type(error).__name__}: {error}"[:800],
                   "where": f"{last.filename.split('site-packages/')[-1]}:{last.lineno}"}
        with os.fdopen(write, "w") as pipe:
            json.dump(row, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"model": job.name, "error": "child died"}


def main() -> None:
    """Print one JSON row per configuration and layout."""
    parser = argparse.ArgumentParser()
    parser.add_argument("configs", nargs="+", type=Path)
    parser.add_argument("--layout", action="append", type=Layout.parse)
    parser.add_argument("--max-model-len", type=int, default=32768)
    parser.add_argument("--kv", action="append")
    parser.add_argument("--align", action="store_true")
    parser.add_argument("--tensors", type=Path)
    parser.add_argument("--append", type=Path)
    args = parser.parse_args()
    import oracle_bypass
    import oracle_folder

    oracle_bypass.preload()
    with tempfile.TemporaryDirectory() as tmp:
        for path in args.configs:
            folder, adapted = oracle_folder.lay_out(path, Path(tmp))
            for layout in args.layout or [Layout()]:
                for kv in args.kv or ["auto"]:
                    top = json.loads(path.read_text())
                    text = top.get("text_config") or top
                    limit = text.get("max_position_embeddings") or text.get("n_positions") or args.max_model_len
                    job = Job(path.stem, folder, layout, min(args.max_model_len, limit), kv, align=args.align)
                    tensors = None
                    if args.tensors and layout in (Layout(1), Layout(8)) and kv == "auto":
                        tensors = args.tensors / f"{path.stem}__tp{layout.tp}.json"
                    row = run_forked(job, tensors)
                    if adapted:
                        row["adapted"] = True
                    if args.align:
                        row["aligned"] = True
                    print(json.dumps(row), flush=True)
                    if args.append:
                        with args.append.open("a") as out:
                            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
