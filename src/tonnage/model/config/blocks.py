"""Layers listed one by one: architectures found by search (Nemotron NAS)."""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import read_gqa
from tonnage.model.config.feedforward import read_dense
from tonnage.model.config.keys import LAYERS_MAX, Config, hidden_size
from tonnage.model.config.surround import norms
from tonnage.model.config.traits import PRE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Ffn, Mixer

# The inner width is two thirds of the stated multiple, rounded up to this number (the model's own code).
WIDTH_STEP = 256
GATED_SHARE = 3
MULTIPLE_MAX = 64.0


def block_layers(cfg: Config) -> tuple[Layer, ...] | None:
    """The layers of `block_configs`, or None without that key. A part may be absent from a layer."""
    blocks = cfg.opt_list("block_configs")
    if blocks is None:
        return None
    if not 0 < len(blocks) <= LAYERS_MAX:
        raise cfg.unknown("block_configs", f"{len(blocks)} entries", f"1 to {LAYERS_MAX} entries")
    return tuple(_layer(cfg, index) for index in range(len(blocks)))


def _layer(cfg: Config, index: int) -> Layer:
    blocks = cfg.list("block_configs")
    block = Config({"block": blocks[index]}, f"{cfg.path}block_configs.").sub("block") or Config({})
    mixers, ffns = _mixers(cfg, block, index), _ffns(cfg, block)
    # A part that is left out takes its norm with it.
    present = tuple(name for name, parts in zip(PRE, (mixers, ffns), strict=True) if parts)
    return Layer(mixers, ffns, norms(present, hidden_size(cfg)))


def _mixers(cfg: Config, block: Config, index: int) -> tuple[Mixer, ...]:
    part = block.sub("attention") or Config({})
    _check_linear(part)
    if part.bool("no_op"):
        return ()
    heads = cfg.int("num_attention_heads")
    # The file counts query heads per KV head, not KV heads.
    group = part.opt_int("n_heads_in_group", most=heads) or 1
    return (read_gqa(Config({**cfg.values, "num_key_value_heads": heads // group}, cfg.path), index),)


def _ffns(cfg: Config, block: Config) -> tuple[Ffn, ...]:
    part = block.sub("ffn") or Config({})
    _check_linear(part)
    if part.bool("no_op"):
        return ()
    multiple = part.opt_float("ffn_mult", most=MULTIPLE_MAX)
    if multiple is None:
        return (read_dense(cfg),)
    width = int(2 * multiple * hidden_size(cfg) / GATED_SHARE)
    rounded = -(-width // WIDTH_STEP) * WIDTH_STEP
    return (read_dense(Config({**cfg.values, "intermediate_size": rounded}, cfg.path)),)


def _check_linear(part: Config) -> None:
    if part.bool("replace_with_linear"):
        raise part.unknown("replace_with_linear", True, "false: a linear layer in place of a part is not supported")
