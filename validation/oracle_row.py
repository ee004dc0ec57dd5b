"""Build one rank of a model out of the engine's own classes and let its planner speak."""

import json
from collections.abc import Iterable
from typing import Any

from oracle_job import Job, Layout

GIB = 2**30
# The limits under which all rows are planned; they enter the need of windowed attention.
MAX_NUM_SEQS = 256
MAX_NUM_BATCHED_TOKENS = 8192
ERROR_CHARACTERS = 600


def engine_config(job: Job) -> Any:
    """Return the engine's own configuration object."""
    from vllm.engine.arg_utils import EngineArgs

    layout = job.layout
    args = EngineArgs(
        model=str(job.folder),
        skip_tokenizer_init=True,
        load_format="dummy",
        dtype="bfloat16",
        max_model_len=job.max_model_len,
        kv_cache_dtype=job.kv_cache_dtype,
        tensor_parallel_size=layout.tp,
        pipeline_parallel_size=layout.pp,
        data_parallel_size=layout.dp,
        enable_expert_parallel=layout.ep,
        distributed_executor_backend="mp",
        enforce_eager=True,
        max_num_seqs=MAX_NUM_SEQS,
        max_num_batched_tokens=MAX_NUM_BATCHED_TOKENS,
    )
    return args.create_engine_config()


def enter_world(layout: Layout) -> None:
    """Make this process one rank of a world in which nobody else exists."""
    import torch
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from vllm.distributed import parallel_state

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=layout.rank, world_size=layout.world)
    parallel_state.init_distributed_environment(layout.world, layout.rank, "fake://", layout.rank, "fake")
    parallel_state.initialize_model_parallel(layout.tp, layout.pp, backend="fake")


def build(config: Any, layout: Layout) -> Any:
    """Return the rank's model on the meta device."""
    import torch
    from vllm.config import set_current_vllm_config
    from vllm.model_executor.model_loader.utils import initialize_model
    from vllm.utils.torch_utils import set_default_torch_dtype

    # Models of the transformers back end move their parameters to this device.
    config.device_config.device = torch.device("meta")
    with set_current_vllm_config(config):
        enter_world(layout)
        with set_default_torch_dtype(config.model_config.dtype), torch.device("meta"):
            return initialize_model(vllm_config=config)


def tensor_bytes(tensor: Any) -> int:
    """Return the bytes of one tensor."""
    return int(tensor.numel() * tensor.element_size())


def storage_bytes(named: Iterable[tuple[str, Any]]) -> int:
    """Return the bytes of distinct tensors."""
    return sum(map(tensor_bytes, {id(tensor): tensor for _, tensor in named}.values()))


def host_bytes(model: Any) -> int:
    """Return the bytes of tables that the engine keeps in host memory by default."""
    held = [module for module in model.modules() if getattr(module, "cpu_offload", False) is True]
    return sum(storage_bytes(module.named_parameters()) for module in held)


def short_dtype(dtype: Any) -> str:
    """Return `bfloat16` for torch.bfloat16."""
    return str(dtype).removeprefix("torch.")


def list_tensors(model: Any) -> list[dict[str, Any]]:
    """Return kind, name, shape, dtype and bytes of every parameter and buffer."""
    named = [("param", *pair) for pair in model.named_parameters()]
    named += [("buffer", *pair) for pair in model.named_buffers()]
    fields = ("kind", "name", "shape", "dtype", "bytes")
    rows = [(kind, name, list(t.shape), short_dtype(t.dtype), tensor_bytes(t)) for kind, name, t in named]
    return [dict(zip(fields, row, strict=True)) for row in rows]


def weigh(model: Any) -> dict[str, Any]:
    """Return the rank's weights: parameters, buffers, both, and what of them lies in host memory."""
    params, buffers = storage_bytes(model.named_parameters()), storage_bytes(model.named_buffers())
    row = {"param_bytes": params, "buffer_bytes": buffers, "weight_bytes": params + buffers}
    row |= {"weights_gib": round((params + buffers) / GIB, 3)}
    host = host_bytes(model)
    return row | {"host_bytes": host} if host else row


def kv_specs(config: Any) -> dict[str, Any]:
    """Return the cache spec of every layer that has one, as the engine's worker does."""
    from vllm.config import set_current_vllm_config
    from vllm.v1.worker.gpu.attn_utils import get_kv_cache_spec

    with set_current_vllm_config(config):
        return dict(get_kv_cache_spec(config))


def count_specs(specs: dict[str, Any]) -> list[dict[str, Any]]:
    """Count the layers of each cache shape, in order of first appearance."""
    counted: dict[tuple[str, int, int], int] = {}
    for spec in specs.values():
        key = (type(spec).__name__, spec.block_size, spec.page_size_bytes)
        counted[key] = counted.get(key, 0) + 1
    return [{"kind": k, "block_size": b, "page_bytes": p, "layers": n} for (k, b, p), n in counted.items()]


def resolve_layout(config: Any, specs: dict[str, Any]) -> None:
    """Adopt the cache memory layout that all attention back ends accept, as the engine's core does."""
    from vllm.config import set_current_vllm_config
    from vllm.distributed.kv_transfer.kv_connector.utils import get_current_attn_backends
    from vllm.v1.attention.backends.utils import get_supported_kv_cache_layouts, resolve_kv_cache_layout
    from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs

    register_all_kvcache_specs(config)
    with set_current_vllm_config(config):
        names = [layout.name for layout in get_supported_kv_cache_layouts(get_current_attn_backends(config))]
        resolve_kv_cache_layout(config, [names], list(specs.values()))


def plan_cache(config: Any, specs: dict[str, Any], pool_bytes: int) -> dict[str, Any]:
    """Run the engine's planner and return blocks, groups and the two numbers it would log."""
    from vllm.v1.core import kv_cache_utils as planner

    resolve_layout(config, specs)
    plan = planner.get_kv_cache_configs(config, [specs], [pool_bytes])[0]
    scheduler = planner.generate_scheduler_kv_cache_config([plan])
    tokens, concurrency = planner.get_kv_cache_capacity(config, scheduler)
    row = {"available_kv_bytes": pool_bytes, "num_blocks": plan.num_blocks, "groups": len(plan.kv_cache_groups)}
    return row | {"kv_tokens_logged": tokens, "max_concurrency": round(concurrency, 4)}


def describe_cache(job: Job, config: Any) -> dict[str, Any]:
    """Return the cache's shapes and, for a single stage, its plan; a refusal goes in as text."""
    from vllm.platforms import current_platform

    row: dict[str, Any] = {"aligned": True} if job.align else {}
    try:
        if job.align:
            current_platform.update_block_size_for_backend(config)
        specs = kv_specs(config)
        row["kv_layers"] = count_specs(specs)
        if job.layout.pp == 1:
            row |= plan_cache(config, specs, job.pool_bytes)
    except (ValueError, NotImplementedError, AssertionError, RuntimeError) as error:
        row["kv_error"] = f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]
    return row


def identify(job: Job, config: Any) -> dict[str, Any]:
    """Return the columns that say what was asked."""
    import vllm

    model, layout = config.model_config, job.layout
    row = {"model": job.name, "engine": "vllm", "engine_version": vllm.__version__, "arch": model.architecture}
    row |= {"tp": layout.tp, "pp": layout.pp, "ep": layout.ep, "rank": layout.rank}
    row |= {"dp": layout.dp} if layout.dp > 1 else {}
    row |= {"max_model_len": model.max_model_len, "kv_cache_dtype": job.kv_cache_dtype}
    return row | {"dtype": short_dtype(model.dtype), "quantization": model.quantization}


def measure(job: Job) -> dict[str, Any]:
    """Build the rank and return its row; its tensors go to `job.tensors`."""
    config = engine_config(job)
    model = build(config, job.layout)
    if job.tensors is not None:
        job.tensors.write_text(json.dumps(list_tensors(model)))
    return identify(job, config) | weigh(model) | describe_cache(job, config)
