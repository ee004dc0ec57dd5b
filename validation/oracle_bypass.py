"""What is replaced in the engine so that one rank can be built without its peers and its hardware."""

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types
from typing import Any, ClassVar
from unittest.mock import MagicMock

import oracle_kernels

SETTINGS = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
# Packages that model files import for images, sound or kernels, and that no shape depends on.
ABSENT = ("torchvision", "torchaudio", "cv2", "cutlass", "cuda", "tilelang", "flash_attn")
# What a sparse latent attention is told and a dense one does not know.
SPARSE_ARGUMENTS = ("topk_indices_buffer", "index_group_builder")


class StandIn(types.ModuleType):
    """A module whose every attribute exists and does nothing."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=f"{self.__name__}.{name}")


class StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stand-in for packages that are not installed."""

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for the absent packages and for nothing else."""
        if fullname.split(".")[0] not in ABSENT:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Return an empty stand-in."""
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: a stand-in has no code."""


def prepare_engine() -> None:
    """Import the engine once and make every replacement."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    pretend_amx()
    import_engine()
    # After the engine's own imports, so that those see what is really installed.
    sys.meta_path.append(StandInFinder())
    inspect_here()
    fake_groups()
    allow_sparse_attention()
    fake_devices()
    keep_on_meta()
    skip_tokenizer()
    oracle_kernels.offer_kernels()
    register_configs()


def pretend_amx() -> None:
    """Answer as a processor with matrix units, on which the CPU back end supports the most."""
    import torch
    import torch.fx.experimental._config as fx_config

    torch.cpu._is_amx_tile_supported = lambda: True
    torch.cpu._is_avx512_bf16_supported = lambda: True
    fx_config.meta_nonzero_assume_all_nonzero = True  # type: ignore[attr-defined]


def import_engine() -> None:
    """Import what every row needs, before the first fork."""
    for name in (
        "torch.testing._internal.distributed.fake_pg",
        "vllm.engine.arg_utils",
        "vllm.model_executor.model_loader.utils",
        "vllm.v1.core.kv_cache_utils",
        "vllm.v1.worker.gpu.attn_utils",
    ):
        importlib.import_module(name)


def inspect_here() -> None:
    """Look at model classes in this process: the stand-ins do not exist in another."""
    from vllm.model_executor.models import registry

    registry._run_in_subprocess = lambda inspect: inspect()


def fake_groups() -> None:
    """Make every process group a fake one, without communicators and queues."""
    import torch
    from vllm.distributed import parallel_state

    new_group = torch.distributed.new_group
    init_group = parallel_state.GroupCoordinator.__init__

    def new_fake_group(*args: Any, **kwargs: Any) -> Any:
        return new_group(*args, **{**kwargs, "backend": "fake"})

    def init_silent(self: Any, *args: Any, **kwargs: Any) -> None:
        silent = {"use_device_communicator": False, "use_message_queue_broadcaster": False}
        init_group(self, *args, **{**kwargs, **silent})

    torch.distributed.new_group = new_fake_group
    parallel_state._node_count = lambda *_: 1
    parallel_state.GroupCoordinator.__init__ = init_silent


def allow_sparse_attention() -> None:
    """Build the CPU's dense latent attention where a sparse one is asked for: same parameters, same cache."""
    from vllm.platforms.cpu import CpuPlatform
    from vllm.v1.attention.backends.mla.amx_mla import AMXMLAImpl

    choose = CpuPlatform.get_attn_backend_cls.__func__
    init = AMXMLAImpl.__init__

    def choose_dense(cls: Any, selected_backend: Any, attn_selector_config: Any, num_heads: Any = None) -> Any:
        return choose(cls, selected_backend, attn_selector_config._replace(use_sparse=False), num_heads)

    def init_dense(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{k: v for k, v in kwargs.items() if k not in SPARSE_ARGUMENTS})

    CpuPlatform.get_attn_backend_cls = classmethod(choose_dense)
    AMXMLAImpl.__init__ = init_dense


def fake_devices() -> None:
    """Answer for streams, events and device properties that do not exist here."""
    import torch
    from vllm.model_executor.layers.fused_moe.expert_map_manager import ExpertMapManager

    torch.cuda.get_device_properties = MagicMock()
    torch.cuda.Event = MagicMock
    torch.cuda.Stream = MagicMock
    torch.accelerator.current_device_index = lambda: 0
    # It prints which expert lies where, out of a tensor that has no content here.
    ExpertMapManager.get_compressed_map_string = lambda *_: ""
    projection = importlib.import_module("vllm.models.deepseek_v4.nvidia.ops.o_proj")
    projection.compute_fp8_einsum_recipe = lambda block_size=128: ((1, block_size, block_size), False)  # type: ignore


def keep_on_meta() -> None:
    """Leave tensors without data where they are, also those meant for pinned host memory."""
    import torch
    from torch.utils._device import _device_constructors

    _device_constructors()  # remembers torch.empty by identity: it must be the real one
    empty, move = torch.empty, torch.nn.Module.to

    def empty_meta(*args: Any, pin_memory: bool = False, **kwargs: Any) -> Any:
        return empty(*args, **({**kwargs, "device": "meta"} if pin_memory else kwargs))

    def move_data(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self if any(p.is_meta for p in self.parameters()) else move(self, *args, **kwargs)

    torch.empty = empty_meta
    torch.nn.Module.to = move_data


def skip_tokenizer() -> None:
    """Give hashed n-gram tables a token map of the right size without reading a tokenizer."""
    import transformers
    from vllm.models.deepseek_v41.common import engram

    init = engram.NgramHashState.__init__

    def init_mapped(self: Any, vllm_config: Any, layout: Any, *args: Any, **kwargs: Any) -> None:
        token_map = [0] * vllm_config.model_config.get_vocab_size()
        engram.build_compressed_token_map = lambda *_: (token_map, layout.compressed_vocab_size)
        init(self, vllm_config, layout, *args, **kwargs)

    transformers.AutoTokenizer.from_pretrained = lambda *_, **__: None
    engram.NgramHashState.__init__ = init_mapped


class Record(dict[str, Any]):
    """A mapping whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


def with_attributes(value: Any) -> Any:
    """Turn nested mappings into records."""
    if isinstance(value, dict):
        return Record({k: with_attributes(v) for k, v in value.items()})
    return [with_attributes(v) for v in value] if isinstance(value, list) else value


def keep_fields(self: Any, **fields: Any) -> None:
    """Hold every field of a configuration as it stands; per-layer blocks are read by attribute."""
    from transformers import PreTrainedConfig

    blocks = fields.pop("block_configs", None)
    vars(self).update(fields, block_configs=with_attributes(blocks))
    PreTrainedConfig.__init__(self, **fields)


def register_configs() -> None:
    """Read configurations whose class is only published as code beside the weights."""
    from transformers import PreTrainedConfig, Qwen2Config
    from vllm.transformers_utils import config as readers

    decilm = {"model_type": "nemotron-nas", "__init__": keep_fields}
    readers._CONFIG_REGISTRY["nemotron-nas"] = type("DeciLMConfig", (PreTrainedConfig,), decilm)
    readers._CONFIG_REGISTRY["mimo"] = type("MiMoConfig", (Qwen2Config,), {"model_type": "mimo"})
    readers._CONFIG_REGISTRY["minimax_m3_text"] = "MiniMaxM3TextConfig"
