"""What must be replaced in the engine so that a rank can be built without its peers or its hardware."""

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types
from typing import Any
from unittest.mock import MagicMock

# Image and sound packages that model files import but no shape depends on.
ABSENT = ("torchvision", "torchaudio", "cv2", "cutlass", "cuda", "tilelang", "flash_attn")


# What a sparse latent attention is told and a dense one does not know.
SPARSE_ARGUMENTS = ("topk_indices_buffer", "index_group_builder")


class StandIn(types.ModuleType):
    """A module whose every attribute exists and does nothing."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=f"{self.__name__}.{name}")


class StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stand-in for packages that are not installed."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return a spec for the absent packages and nothing else."""
        if fullname.split(".")[0] not in ABSENT:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return an empty stand-in."""
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: a stand-in has no code."""


def preload() -> None:
    """Import the engine once and patch out everything that would talk to another process."""
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    import torch
    torch.cpu._is_amx_tile_supported = lambda: True
    torch.cpu._is_avx512_bf16_supported = lambda: True
    import torch.fx.experimental._config as fx_config

    fx_config.meta_nonzero_assume_all_nonzero = True
    import torch.testing._internal.distributed.fake_pg
    import vllm.engine.arg_utils
    import vllm.model_executor.model_loader.utils
    import vllm.v1.core.kv_cache_utils
    import vllm.v1.worker.gpu.attn_utils  # noqa: F401
    from vllm.distributed import parallel_state as ps
    from vllm.model_executor.models import registry

    # After the engine's own imports, so that they see what is really installed.
    sys.meta_path.append(StandInFinder())
    registry._run_in_subprocess = lambda fn: fn()
    real_new_group = torch.distributed.new_group

    def fake_group(*args: Any, **kwargs: Any) -> Any:
        kwargs["backend"] = "fake"
        return real_new_group(*args, **kwargs)

    torch.distributed.new_group = fake_group
    ps._node_count = lambda pg: 1
    real_init = ps.GroupCoordinator.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs["use_device_communicator"] = False
        kwargs["use_message_queue_broadcaster"] = False
        real_init(self, *args, **kwargs)

    ps.GroupCoordinator.__init__ = init
    bypass_cpu_attention()
    bypass_devices()
    bypass_kernels()
    bypass_tokenizer()
    register_configs()


def bypass_cpu_attention() -> None:
    """Let sparse attention pass the CPU platform's check: only shapes are meant."""
    from vllm.platforms.cpu import CpuPlatform

    real = CpuPlatform.get_attn_backend_cls.__func__

    def choose(cls: Any, selected_backend: Any, attn_selector_config: Any, num_heads: Any = None) -> str:
        if attn_selector_config.use_sparse:
            attn_selector_config = attn_selector_config._replace(use_sparse=False)
        return real(cls, selected_backend, attn_selector_config, num_heads)

    CpuPlatform.get_attn_backend_cls = classmethod(choose)
    accept_sparse_arguments()


def accept_sparse_arguments() -> None:
    """Let the CPU's dense latent attention be built where a sparse one is asked for."""
    from vllm.v1.attention.backends.mla.amx_mla import AMXMLAImpl

    real = AMXMLAImpl.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in SPARSE_ARGUMENTS:
            kwargs.pop(name, None)
        real(self, *args, **kwargs)

    AMXMLAImpl.__init__ = init


def bypass_devices() -> None:
    """Answer for streams, events and tensor contents that do not exist here."""
    import torch
    from vllm.model_executor.layers.fused_moe.expert_map_manager import ExpertMapManager

    o_proj = importlib.import_module("vllm.models.deepseek_v4.nvidia.ops.o_proj")
    o_proj.compute_fp8_einsum_recipe = lambda block_size=128: ((1, block_size, block_size), False)
    torch.cuda.get_device_properties = MagicMock()
    torch.accelerator.current_device_index = lambda: 0
    torch.cuda.Event = MagicMock
    torch.cuda.Stream = MagicMock
    ExpertMapManager.get_compressed_map_string = lambda self: ""
    real_empty = torch.empty

    def empty(*args: Any, pin_memory: bool = False, **kwargs: Any) -> Any:
        return real_empty(*args, **({**kwargs, "device": "meta"} if pin_memory else kwargs))

    torch.empty = empty
    real_to = torch.nn.Module.to
    torch.nn.Module.to = lambda self, *args, **kwargs: self if on_meta(self) else real_to(self, *args, **kwargs)


def on_meta(module: Any) -> bool:
    """Tell whether a module has no data that could be moved."""
    return any(p.is_meta for p in module.parameters())


def accept(cls: Any, method: str) -> None:
    """Make a class-level support check say yes."""
    setattr(cls, method, classmethod(lambda cls, *args, **kwargs: (True, None)))


def accept_ungated(cls: Any) -> None:
    """Make an experts class accept layers without a gate, which the CPU has no kernel for."""
    real = cls.is_supported_config

    def check(cls_: Any, config: Any, *args: Any, **kwargs: Any) -> Any:
        return real(cls_, config, *args, **kwargs) if config.is_act_and_mul else (True, None)

    cls.is_supported_config = staticmethod(check)


def bypass_kernels() -> None:
    """Offer the emulation kernels, which keep the checkpoint's own layout, where the CPU has none."""
    from vllm.model_executor.kernels import linear
    from vllm.model_executor.layers.fused_moe import config as moe_config
    from vllm.model_executor.layers.fused_moe.experts import cpu_moe, nvfp4_emulation_moe
    from vllm.model_executor.layers.fused_moe.experts.mxfp8_emulation_moe import Mxfp8EmulationTritonExperts
    from vllm.platforms import PlatformEnum

    for table, kernel in (("NVFP4", linear.EmulationNvFp4LinearKernel), ("MXFP8", linear.EmulationMxfp8LinearKernel),
                          ("MXFP4", linear.EmulationMxfp4LinearKernel)):
        accept(kernel, "is_supported")
        accept(kernel, "can_implement")
        getattr(linear, f"_POSSIBLE_{table}_KERNELS")[PlatformEnum.CPU] = [kernel]
    accept(linear.CPUFp8BlockScaledMMKernel, "can_implement")
    accept(linear.MarlinNvFp4LinearKernel, "is_supported")
    accept(linear.MarlinNvFp4LinearKernel, "can_implement")
    for experts in (nvfp4_emulation_moe.Nvfp4QuantizationEmulationTritonExperts, Mxfp8EmulationTritonExperts,
                    cpu_moe.CPUExpertsMxfp4, cpu_moe.CPUExpertsInt4, cpu_moe.CPUUnquantizedExperts):
        experts.is_supported_config = staticmethod(lambda *args, **kwargs: (True, None))
    accept_ungated(cpu_moe.CPUExpertsFp8)
    real_check = moe_config.FusedMoEConfig.__post_init__

    def post_init(self: Any) -> None:
        try:
            real_check(self)
        except NotImplementedError as error:
            if "is_act_and_mul" not in str(error):
                raise

    moe_config.FusedMoEConfig.__post_init__ = post_init


class Record(dict[str, Any]):
    """A mapping whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


def namespace(value: Any) -> Any:
    """Turn nested mappings into objects with attributes."""
    if isinstance(value, dict):
        return Record({k: namespace(v) for k, v in value.items()})
    return [namespace(v) for v in value] if isinstance(value, list) else value


def keep_all(self: Any, **fields: Any) -> None:
    """Hold every field of a configuration as it stands."""
    from transformers import PreTrainedConfig

    for name, value in fields.items():
        setattr(self, name, namespace(value) if name == "block_configs" else value)
    PreTrainedConfig.__init__(self, **{k: v for k, v in fields.items() if k != "block_configs"})


def register_configs() -> None:
    """Read configurations whose class is only published as code beside the weights."""
    from transformers import PreTrainedConfig, Qwen2Config
    from vllm.transformers_utils import config as readers

    readers._CONFIG_REGISTRY["nemotron-nas"] = type(
        "DeciLMConfig", (PreTrainedConfig,), {"model_type": "nemotron-nas", "__init__": keep_all})
    readers._CONFIG_REGISTRY["minimax_m3_text"] = "MiniMaxM3TextConfig"
    readers._CONFIG_REGISTRY["mimo"] = type("MiMoConfig", (Qwen2Config,), {"model_type": "mimo"})


def bypass_tokenizer() -> None:
    """Give hashed n-gram tables a token map of the right size without reading a tokenizer."""
    import transformers
    from vllm.models.deepseek_v41.common import engram

    real = engram.NgramHashState.__init__

    def init(self: Any, vllm_config: Any, layout: Any, *args: Any, **kwargs: Any) -> None:
        token_map = [0] * vllm_config.model_config.get_vocab_size()
        engram.build_compressed_token_map = lambda tokenizer: (token_map, layout.compressed_vocab_size)
        real(self, vllm_config, layout, *args, **kwargs)

    transformers.AutoTokenizer.from_pretrained = lambda *args, **kwargs: None
    engram.NgramHashState.__init__ = init
