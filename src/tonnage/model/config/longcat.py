"""Configuration keys of LongCat: two latent attentions and two dense parts in a layer, experts beside them."""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import read_mla
from tonnage.model.config.feedforward import read_dense, read_moe
from tonnage.model.config.keys import hidden_size, num_layers
from tonnage.model.config.surround import norms
from tonnage.model.config.traits import PRE
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config
    from tonnage.model.ffn.dense import Dense
    from tonnage.model.ffn.moe import Moe

HALVES = ("0", "1")


def longcat_layers(cfg: Config) -> tuple[Layer, ...]:
    """Decoder layers, each with two attentions, two dense parts and one mixture of experts."""
    names = tuple(f"{norm}.{half}" for norm in PRE for half in HALVES)
    extras = norms(names, hidden_size(cfg))
    return tuple(
        Layer(
            tuple(replace(read_mla(cfg, index), name=f"self_attn.{half}") for half in HALVES),
            (*_dense_parts(cfg, index), _experts(cfg, index)),
            extras,
        )
        for index in range(num_layers(cfg))
    )


def _dense_parts(cfg: Config, index: int) -> tuple[Dense, ...]:
    return tuple(replace(read_dense(cfg, index), name=f"mlps.{half}") for half in HALVES)


def _experts(cfg: Config, index: int) -> Moe:
    # Engines keep the whole router in 32 bits (vLLM longcat_flash.py).
    return replace(read_moe(cfg, index), router_bias=True, router_dtype="float32", router="router.classifier")
