"""Configuration keys of models that alternate gated DeltaNet and softmax attention (Qwen3-Next, Qwen3.5 onward)."""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import FULL, per_layer, read_attention
from tonnage.model.config.feedforward import read_ffns
from tonnage.model.config.keys import num_layers
from tonnage.model.config.surround import layer_extras
from tonnage.model.config.traits import read_family
from tonnage.model.mixer.deltanet import DeltaNet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Mixer
    from tonnage.model.config.keys import Config

LINEAR = "linear_attention"
# The one type whose checkpoint interleaves the projections; from Qwen3.5 on they are stored apart.
MERGED_TYPE = "qwen3_next"


def deltanet_layers(cfg: Config) -> tuple[Layer, ...]:
    """Decoder layers, linear or full as `layer_types` or `full_attention_interval` says."""
    linear, extras = read_deltanet(cfg), layer_extras(cfg)
    layers = []
    for index in range(num_layers(cfg)):
        mixer: Mixer = linear if is_linear(cfg, index) else read_attention(cfg, index)
        layers.append(Layer((mixer,), read_ffns(cfg, index), extras))
    return tuple(layers)


def read_deltanet(cfg: Config) -> DeltaNet:
    """The linear attention that all linear layers share."""
    return DeltaNet(
        key_heads=cfg.int("linear_num_key_heads"),
        value_heads=cfg.int("linear_num_value_heads"),
        key_dim=cfg.int("linear_key_head_dim"),
        value_dim=cfg.int("linear_value_head_dim"),
        kernel=cfg.int("linear_conv_kernel_dim"),
        state_dtype=cfg.opt_str("mamba_ssm_dtype"),
        merged=read_family(cfg) == MERGED_TYPE,
    )


def is_linear(cfg: Config, index: int) -> bool:
    """Whether layer `index` is a linear one: by the list of kinds, else all but every n-th layer."""
    kind = per_layer(cfg, "layer_types", index, (LINEAR, *FULL))
    if kind is not None:
        return kind == LINEAR
    return (index + 1) % cfg.int("full_attention_interval") != 0
