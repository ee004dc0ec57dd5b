"""Kernels offered to the engine's selectors where its CPU platform has none.

Chosen are those that keep the checkpoint's own layout (the emulations) and the CPU's own for what it
nearly supports; the bytes of a rank are then those of the format, without the padding a card's kernel adds.
"""

from typing import Any


def yes(*_: Any, **__: Any) -> tuple[bool, None]:
    """Answer a support check."""
    return True, None


def offer_kernels() -> None:
    """Offer linear and expert kernels for every quantisation."""
    offer_linear()
    offer_experts()
    allow_ungated()


def offer_linear() -> None:
    """Put the emulated FP4 and MX kernels on the CPU's lists and let block FP8 take any tile."""
    from vllm.model_executor.kernels import linear
    from vllm.platforms import PlatformEnum

    tables = {
        linear.EmulationNvFp4LinearKernel: linear._POSSIBLE_NVFP4_KERNELS,
        linear.EmulationMxfp8LinearKernel: linear._POSSIBLE_MXFP8_KERNELS,
        linear.EmulationMxfp4LinearKernel: linear._POSSIBLE_MXFP4_KERNELS,
    }
    for kernel, table in tables.items():
        kernel.is_supported = kernel.can_implement = staticmethod(yes)
        table[PlatformEnum.CPU] = [kernel]
    linear.CPUFp8BlockScaledMMKernel.can_implement = staticmethod(yes)
    # Mixed-precision checkpoints with 16-bit activations ask for this one by name.
    linear.MarlinNvFp4LinearKernel.is_supported = linear.MarlinNvFp4LinearKernel.can_implement = staticmethod(yes)


def offer_experts() -> None:
    """Let emulated and CPU experts take every activation and router."""
    from vllm.model_executor.layers.fused_moe.experts import cpu_moe, mxfp8_emulation_moe, nvfp4_emulation_moe

    for experts in (
        nvfp4_emulation_moe.Nvfp4QuantizationEmulationTritonExperts,
        mxfp8_emulation_moe.Mxfp8EmulationTritonExperts,
        cpu_moe.CPUExpertsMxfp4,
        cpu_moe.CPUExpertsInt4,
        cpu_moe.CPUUnquantizedExperts,
    ):
        experts.is_supported_config = staticmethod(yes)


def allow_ungated() -> None:
    """Let experts without a gate be built, for which the CPU has no kernel."""
    from vllm.model_executor.layers.fused_moe.config import FusedMoEConfig
    from vllm.model_executor.layers.fused_moe.experts.cpu_moe import CPUExpertsFp8

    check_config, check_experts = FusedMoEConfig.__post_init__, CPUExpertsFp8.is_supported_config

    def check_config_gated(self: Any) -> None:
        try:
            check_config(self)
        except NotImplementedError as error:
            if "is_act_and_mul" not in str(error):
                raise

    def check_experts_gated(cls: Any, config: Any, *args: Any, **kwargs: Any) -> Any:
        return check_experts(cls, config, *args, **kwargs) if config.is_act_and_mul else yes()

    FusedMoEConfig.__post_init__ = check_config_gated
    CPUExpertsFp8.is_supported_config = staticmethod(check_experts_gated)
