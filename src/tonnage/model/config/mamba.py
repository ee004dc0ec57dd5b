"""Configuration keys of state-space mixers, and of models that alternate them with attention.

Jamba (periods), Bamba (indices), Granite 4 hybrid (list of kinds), Falcon-H1 (both in every layer).
"""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import FULL, per_layer, read_gqa
from tonnage.model.config.feedforward import EXPERTS, EXPERTS_MAX, read_dense, read_ffns
from tonnage.model.config.keys import LAYERS_MAX, hidden_size, num_layers
from tonnage.model.config.surround import layer_extras
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Ffn, Mixer
    from tonnage.model.config.keys import Config

MAMBA = ("mamba", "mamba2")
AUTO = "auto"
# A step's low rank of "auto" is this fraction of the residual width (the Mamba paper's code).
AUTO_RANK_SHARE = 16
DEFAULT_EXPAND = 2
STATE_DTYPES = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")


def mamba_layers(cfg: Config) -> tuple[Layer, ...]:
    """Decoder layers of models with a feed-forward part in each layer."""
    extras = layer_extras(cfg)
    return tuple(Layer(_mixers(cfg, index), _ffns(cfg, index), extras) for index in range(num_layers(cfg)))


def _mixers(cfg: Config, index: int) -> tuple[Mixer, ...]:
    if cfg.has("ssm_multipliers", "mamba_d_ssm"):
        return (read_gqa(cfg, index), read_mamba(cfg))
    return (read_gqa(cfg, index),) if _is_attention(cfg, index) else (read_mamba(cfg),)


def _is_attention(cfg: Config, index: int) -> bool:
    for key in ("layer_types", "layers_block_type"):
        kind = per_layer(cfg, key, index, (*MAMBA, *FULL))
        if kind is not None:
            return kind in FULL
    indices = cfg.ints("attn_layer_indices", most=LAYERS_MAX)
    if indices is not None:
        return index in indices
    period = cfg.int("attn_layer_period")
    return index % period == cfg.count("attn_layer_offset") % period


def _ffns(cfg: Config, index: int) -> tuple[Ffn, ...]:
    """Granite's one dense part without experts has the width of the shared expert."""
    width = cfg.opt_int("shared_intermediate_size")
    if width is None or cfg.count(*EXPERTS, most=EXPERTS_MAX):
        return read_ffns(cfg, index)
    return (replace(read_dense(cfg, index), width=width, name="shared_mlp"),)


def read_mamba(cfg: Config) -> Mamba1 | Mamba2:
    """The state-space mixer: the first generation has a low rank for its step, the second has heads."""
    return read_mamba1(cfg) if cfg.has("mamba_dt_rank") else read_mamba2(cfg)


def read_mamba1(cfg: Config) -> Mamba1:
    """A first-generation mixer (Jamba)."""
    hidden = hidden_size(cfg)
    is_auto = cfg.raw("mamba_dt_rank") == AUTO
    return Mamba1(
        inner=(cfg.opt_int("mamba_expand") or DEFAULT_EXPAND) * hidden,
        state=cfg.int("mamba_d_state"),
        kernel=cfg.int("mamba_d_conv"),
        dt_rank=-(-hidden // AUTO_RANK_SHARE) if is_auto else cfg.int("mamba_dt_rank"),
        inner_norms=cfg.bool("mamba_inner_layernorms", default=True),
        conv_bias=cfg.bool("mamba_conv_bias", default=True),
        proj_bias=cfg.bool("mamba_proj_bias"),
    )


def read_mamba2(cfg: Config) -> Mamba2:
    """A second-generation mixer (Bamba, Granite 4, Falcon-H1)."""
    heads = cfg.int("mamba_n_heads")
    inner = cfg.opt_int("mamba_d_ssm") or (cfg.opt_int("mamba_expand") or DEFAULT_EXPAND) * hidden_size(cfg)
    stated = None if cfg.raw("mamba_d_head") == AUTO else cfg.opt_int("mamba_d_head")
    return Mamba2(
        heads=heads,
        head_dim=stated or max(1, inner // heads),
        groups=cfg.opt_int("mamba_n_groups") or 1,
        state=cfg.int("mamba_d_state"),
        kernel=cfg.int("mamba_d_conv"),
        conv_bias=cfg.bool("mamba_conv_bias", default=True),
        proj_bias=cfg.bool("mamba_proj_bias"),
        gated_norm=cfg.bool("mamba_rms_norm", default=True),
        state_dtype=cfg.opt_str(*STATE_DTYPES),
        name="mamba",
    )
