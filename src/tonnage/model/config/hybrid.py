"""Models whose layers are not one attention and one feed-forward part each: which keys tell, and who reads them."""

from __future__ import annotations

from collections.abc import Callable

from tonnage.model.arch import Layer
from tonnage.model.config.compressed import compressed_layers, stream_head
from tonnage.model.config.deltanet import deltanet_layers
from tonnage.model.config.kda import kda_layers, kda_outer
from tonnage.model.config.keys import Config
from tonnage.model.config.longcat import longcat_layers
from tonnage.model.config.mamba import mamba_layers
from tonnage.model.config.nemotron import nemotron_layers
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

# Keys of mixers that tonnage does not model; ignoring them would count an attention in their place.
UNKNOWN_MIXERS = {
    "num_mem_blocks": "no shared attention blocks (Zamba 2)",
    "conv_L_cache": "no short convolutions in place of attention (LFM 2)",
    "layer_group_size": "no lightning attention (Ling linear)",
    "lru_width": "no gated linear recurrence (RecurrentGemma)",
}


def hybrid_layers(cfg: Config) -> tuple[Layer, ...] | None:
    """The decoder layers, or None for a model that none of the keys concerns.

    An UnknownKeyError names a mixer that is not supported or an unknown value in a layer pattern.
    """
    _check_mixers(cfg)
    for key, read in READERS:
        if cfg.has(key):
            return read(cfg)
    return None


def hybrid_outer(cfg: Config, prefix: str) -> tuple[Tensor, ...]:
    """Tensors outside the layers that come with these mixers: the joining of residual streams or blocks."""
    return (*stream_head(cfg, prefix), *kda_outer(cfg, prefix))


def _check_mixers(cfg: Config) -> None:
    for key, accepted in UNKNOWN_MIXERS.items():
        if cfg.has(key):
            raise cfg.unknown(key, cfg.raw(key), accepted)
    if 0 in (cfg.ints("attn_type_list", most=1) or ()):
        raise cfg.unknown("attn_type_list", 0, "1 for every layer: no lightning attention (MiniMax-01)")
