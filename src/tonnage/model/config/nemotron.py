"""Configuration keys of Nemotron-H and Nemotron 3: layers of one part each, in an order that a pattern spells."""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import read_gqa
from tonnage.model.config.feedforward import read_dense, read_moe
from tonnage.model.config.keys import ITEMS_MAX, LAYERS_MAX, hidden_size, num_layers
from tonnage.model.config.mamba import STATE_DTYPES
from tonnage.model.config.surround import norms
from tonnage.model.mixer.mamba import Mamba2
from tonnage.model.tensor import Tensor
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config

LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
KINDS = tuple(LETTERS.values())
PATTERN_KEYS = ("hybrid_override_pattern", "layers_block_type")
DRAFT_KEYS = ("mtp_hybrid_override_pattern", "mtp_layers_block_type")
# The checkpoint calls the one part of a layer so, whatever it is.
PART = "mixer"
# The engines' own default for this family (vLLM models/config.py).
STATE_DTYPE = "float32"


def nemotron_layers(cfg: Config) -> tuple[Layer, ...]:
    """Decoder layers in the order of the pattern, whose length must be `num_hidden_layers` where that is given."""
    kinds = read_kinds(cfg, *PATTERN_KEYS)
    if cfg.has("num_hidden_layers") and num_layers(cfg) != len(kinds):
        raise cfg.unknown("num_hidden_layers", num_layers(cfg), f"the {len(kinds)} layers of the pattern")
    by_kind = {kind: nemotron_layer(cfg, kind) for kind in dict.fromkeys(kinds)}
    return tuple(by_kind[kind] for kind in kinds)


def read_kinds(cfg: Config, pattern: str, listed: str) -> tuple[str, ...]:
    """The kinds of layers, from the list under key `listed` or the letters under key `pattern`; empty without both."""
    if cfg.has(listed):
        kinds, key = cfg.list(listed), listed
    else:
        kinds, key = tuple(LETTERS.get(letter, letter) for letter in cfg.str(pattern)[:ITEMS_MAX]), pattern
    if len(kinds) > LAYERS_MAX:
        raise cfg.unknown(key, f"{len(kinds)} layers", f"at most {LAYERS_MAX} layers")
    return tuple(_known(cfg, key, kind) for kind in kinds)


def _known(cfg: Config, key: str, kind: object) -> str:
    if not isinstance(kind, str) or kind not in KINDS:
        raise cfg.unknown(key, kind, f"layers of {', '.join(KINDS)} ({' '.join(LETTERS)})")
    return kind


def nemotron_layer(cfg: Config, kind: str) -> Layer:
    """A layer of one part of `kind`, with the norm before it."""
    extras = norms(("norm",), hidden_size(cfg))
    match kind:
        case "mamba":
            return Layer((read_nemotron_mamba(cfg),), (), extras)
        case "attention":
            return Layer((replace(read_gqa(cfg, 0), name=PART),), (), extras)
        case "mlp":
            return Layer((), (replace(read_dense(cfg), name=PART),), extras)
        case _:
            # Engines keep the router in 32 bits (vLLM nemotron_h.py).
            experts = replace(read_moe(cfg), name=PART, router_dtype="float32", router_bias=False)
            return Layer((), (experts,), (*extras, _corrections(experts.experts)))


def _corrections(experts: int) -> Tensor:
    """The router's correction values; the published totals of this family do not count them."""
    name = f"{PART}.gate.e_score_correction_bias"
    return Tensor(name, experts, kind="plain", dtype="float32", is_counted=False)


def read_nemotron_mamba(cfg: Config) -> Mamba2:
    """The state-space mixer of all such layers."""
    return Mamba2(
        heads=cfg.int("mamba_num_heads"),
        head_dim=cfg.int("mamba_head_dim"),
        groups=cfg.int("n_groups"),
        state=cfg.int("ssm_state_size"),
        kernel=cfg.int("conv_kernel"),
        conv_bias=cfg.bool("use_conv_bias", default=True),
        proj_bias=cfg.bool("use_bias"),
        state_dtype=cfg.opt_str(*STATE_DTYPES) or STATE_DTYPE,
        name=PART,
    )
