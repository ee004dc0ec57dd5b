"""Configuration keys of models that alternate Kimi delta attention and latent attention (Kimi-Linear, Kimi K3)."""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import read_attention
from tonnage.model.config.feedforward import read_ffns
from tonnage.model.config.keys import LAYERS_MAX, Config, hidden_size, num_layers
from tonnage.model.config.surround import layer_extras
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.kda import Kda
from tonnage.model.tensor import Tensor, vector
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Ffn, Mixer

# Before each part, K3 reads the stored residuals of earlier blocks through a norm and a vector of scores.
RESIDUALS = ("self_attention_res", "mlp_res")
OUTPUT_RESIDUAL = "output_attn_res"


def kda_layers(cfg: Config) -> tuple[Layer, ...]:
    """Decoder layers; `linear_attn_config` lists both kinds, counting layers from one."""
    linear = _linear_config(cfg)
    kda, extras = read_kda(linear), layer_extras(cfg) + _residual_readers(cfg, RESIDUALS)
    layers = []
    for index in range(num_layers(cfg)):
        mixer: Mixer = kda if _is_linear(linear, index + 1) else read_attention(cfg, index)
        layers.append(Layer((mixer,), _ffns(cfg, index), extras))
    return tuple(layers)


def read_kda(linear: Config) -> Kda:
    """The delta attention that `linear_attn_config` describes."""
    return Kda(
        heads=linear.int("num_heads"),
        head_dim=linear.int("head_dim"),
        kernel=linear.int("short_conv_kernel_size"),
        full_rank_gate=linear.bool("use_full_rank_gate"),
    )


def kda_outer(cfg: Config, prefix: str) -> tuple[Tensor, ...]:
    """Tensors behind the last layer: the reader of the stored residuals."""
    return _residual_readers(cfg, (f"{prefix}{OUTPUT_RESIDUAL}",))


def _linear_config(cfg: Config) -> Config:
    return cfg.sub("linear_attn_config") or Config({})


def _is_linear(linear: Config, number: int) -> bool:
    is_kda = number in (linear.ints("kda_layers", most=LAYERS_MAX) or ())
    is_full = number in (linear.ints("full_attn_layers", most=LAYERS_MAX) or ())
    if is_kda == is_full:
        raise linear.unknown("kda_layers", f"layer {number}", "each layer in one of kda_layers and full_attn_layers")
    return is_kda


def _ffns(cfg: Config, index: int) -> tuple[Ffn, ...]:
    # Correction values are there whatever the routing method is called, and of the 4-bit checkpoint only the experts
    # are quantised (vLLM kimi_k3/nvidia/model.py, quantization/mxfp4.py).
    return tuple(
        replace(part, router_bias=True, latent_plain=True) if isinstance(part, Moe) else part
        for part in read_ffns(cfg, index)
    )


def _residual_readers(cfg: Config, names: tuple[str, ...]) -> tuple[Tensor, ...]:
    if not cfg.has("attn_res_block_size"):
        return ()
    hidden = hidden_size(cfg)
    norms = tuple(vector(f"{name}_norm", hidden) for name in names)
    return norms + tuple(Tensor(f"{name}_proj", 1, hidden, kind="plain") for name in names)
