"""Models whose layers are not one attention and one feed-forward part each: which keys tell, and who reads them."""

from __future__ import annotations

from tonnage.model.config.compressed import compressed_layers, stream_head
from tonnage.model.config.deltanet import deltanet_layers
from tonnage.model.config.kda import kda_layers, kda_outer
from tonnage.model.config.longcat import longcat_layers
from tonnage.model.config.mamba import mamba_layers
from tonnage.model.config.nemotron import nemotron_layers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.model.arch import Layer
    from tonnage.model.config.keys import Config
    from tonnage.model.tensor import Tensor

# The first key that is present decides.
READERS: tuple[tuple[str, Callable[[Config], tuple[Layer, ...]]], ...] = (
    ("compress_ratios", compressed_layers),
    ("linear_attn_config", kda_layers),
    ("linear_num_value_heads", deltanet_layers),
    ("hybrid_override_pattern", nemotron_layers),
    ("mamba_num_heads", nemotron_layers),
    ("mamba_d_state", mamba_layers),
    ("zero_expert_num", longcat_layers),
)

# Keys of parts that tonnage does not model; ignoring them would leave their parameters or their state out.
UNKNOWN_PARTS = {
    "num_mem_blocks": "no shared attention blocks (Zamba 2)",
    "conv_L_cache": "no short convolutions in place of attention (LFM 2)",
    "sconv_kernel_size": "no short convolutions beside attention (Inkling)",
    "layer_group_size": "no lightning attention (Ling linear)",
    "lru_width": "no gated linear recurrence (RecurrentGemma)",
    "altup_num_inputs": "no alternating updates (Gemma 3n)",
    "laurel_rank": "no low-rank residuals (Gemma 3n)",
    "ple_layer_ids": "no n-gram embeddings of this kind (Qwen 4)",
    "hc_count": "no hyper-connections of this kind (Qwen 4)",
    "enable_ihc": "no hyper-connections of this kind (Hy 4)",
}


def hybrid_layers(cfg: Config) -> tuple[Layer, ...] | None:
    """The decoder layers, or None for a model that none of the keys concerns.

    An UnknownKeyError names a part that is not supported or an unknown value in a layer pattern.
    """
    _check_parts(cfg)
    for key, read in READERS:
        if cfg.has(key):
            return read(cfg)
    return None


def hybrid_outer(cfg: Config, prefix: str) -> tuple[Tensor, ...]:
    """Tensors outside the layers that come with these mixers: the joining of residual streams or blocks."""
    return (*stream_head(cfg, prefix), *kda_outer(cfg, prefix))


def _check_parts(cfg: Config) -> None:
    for key, accepted in UNKNOWN_PARTS.items():
        if cfg.raw(key):
            raise cfg.unknown(key, cfg.raw(key), accepted)
    if cfg.has("hc_mult") and not cfg.has("compress_ratios"):
        raise cfg.unknown("hc_mult", cfg.raw("hc_mult"), "compress_ratios beside it: hyper-connections of DeepSeek V4")
    if 0 in (cfg.ints("attn_type_list", most=1) or ()):
        raise cfg.unknown("attn_type_list", 0, "1 for every layer: no lightning attention (MiniMax-01)")
