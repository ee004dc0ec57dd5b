"""Configuration keys of feed-forward parts: dense, mixture of experts, or both side by side."""

from __future__ import annotations

from tonnage.model.config.attention import per_layer
from tonnage.model.config.keys import hidden_size, num_layers
from tonnage.model.config.traits import traits_of
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config

EXPERTS_MAX = 65536

EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")
TOP_K = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "top_k_experts", "experts_per_token",
         "moe_k")  # fmt: skip
EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "expert_intermediate_size", "moe_ffn_hidden_size")
DENSE_WIDTH = ("dense_intermediate_size", "intermediate_size_mlp", "intermediate_size", "ffn_hidden_size", "ffn_dim",
               "n_inner")  # fmt: skip
SHARED_EXPERTS = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
SHARED_WIDTH = (
    "moe_shared_expert_intermediate_size",
    "shared_expert_intermediate_size",
    "shared_intermediate_size",
    "share_expert_dim",
)
UNGATED = ("relu2", "relu", "gelu_new", "gelu_plain")

# Keys about experts that change no size: routing, losses, kernels.
_BENIGN = (
    "moe_layer_freq", "moe_router_dtype", "moe_router_logit_softcapping", "moe_router_scaling_factor",
    "moe_routed_scaling_factor", "moe_apply_router_weight_on_input", "moe_router_activation_func", "moe_renormalize",
    "moe_shared_expert_overlap", "moe_latent_size", "moe_jitter_eps", "moe_loss_weight", "moe_normalize_expert_weights",
    "moe_aux_loss_coeff", "moe_layers_enum", "moe_layer_interval", "moe_layer_start_index", "moe_layer_end_index",
    "moe_router_enable_expert_bias", "moe_router_bias", "moe_use_aux_free", "moe_gate", "num_expert_group",
    "moe_use_hash", "moe_router_use_sigmoid", "moe_layers", "moe_implementation", "dspark_num_experts_per_tok",
)  # fmt: skip
_KNOWN = frozenset((*EXPERTS, *TOP_K, *EXPERT_WIDTH, *SHARED_EXPERTS, *_BENIGN, "zero_expert_num"))


def read_ffn(cfg: Config, index: int) -> Dense | Moe | None:
    """The feed-forward part of decoder layer `index`; the experts where a layer has both kinds."""
    return read_moe(cfg, index) if is_sparse(cfg, index) else read_dense(cfg, index)


def read_ffns(cfg: Config, index: int) -> tuple[Dense | Moe, ...]:
    """All feed-forward parts of layer `index`. Gemma 4 runs a dense part beside its experts."""
    part = read_ffn(cfg, index)
    if isinstance(part, Moe) and cfg.bool("enable_moe_block"):
        return (read_dense(cfg, index), part)
    return () if part is None else (part,)


def is_sparse(cfg: Config, index: int) -> bool:
    """Whether layer `index` holds experts. All the keys that speak of it must agree."""
    if not cfg.count(*EXPERTS, most=EXPERTS_MAX) or cfg.opt_bool("enable_moe_block") is False:
        return False
    kind = per_layer(cfg, "mlp_layer_types", index, ("dense", "sparse"))
    if kind is not None:
        return kind == "sparse"
    if index in (cfg.ints("mlp_only_layers") or ()) or index < cfg.count("first_k_dense_replace"):
        return False
    return _is_on_step(cfg, index) and _is_listed(cfg, index)


def _is_on_step(cfg: Config, index: int) -> bool:
    # Qwen and Llama 4 count layers from one, Jamba from its offset.
    step = cfg.opt_int("decoder_sparse_step", "interleave_moe_layer_step") or 1
    period, offset = cfg.opt_int("expert_layer_period") or 1, cfg.count("expert_layer_offset")
    return (index + 1) % step == 0 and index % period == offset % period


def _is_listed(cfg: Config, index: int) -> bool:
    listed = cfg.opt_str("moe_layers_enum")
    if listed is not None:
        return str(index) in (entry.strip() for entry in listed.split(","))
    frequency = cfg.raw("moe_layer_freq")
    if isinstance(frequency, (list, tuple)):
        flags = cfg.ints("moe_layer_freq", most=1) or ()
        return index < len(flags) and bool(flags[index])
    return index % (cfg.opt_int("moe_layer_freq") or 1) == 0


def read_dense(cfg: Config, index: int = 0) -> Dense:
    """The dense feed-forward part of layer `index`."""
    traits = traits_of(cfg)
    width = cfg.opt_int(*DENSE_WIDTH) or hidden_size(cfg) * (traits.ffn_multiple or 0)
    if not width:
        raise cfg.unknown("intermediate_size", "absent", f"the configuration must give {' or '.join(DENSE_WIDTH)}")
    # Small Gemma 4 models widen the layers that save a cache.
    doubled = cfg.bool("use_double_wide_mlp") and index >= num_layers(cfg) - cfg.count("num_kv_shared_layers")
    has_bias = cfg.bool("mlp_bias", "use_mlp_bias", default=traits.mlp_bias)
    return Dense(width * (2 if doubled else 1), traits.gated and is_gated(cfg), has_bias, traits.dense)


def is_gated(cfg: Config) -> bool:
    """Whether feed-forward parts have a gate matrix; the square of ReLU (Nemotron) works without."""
    return cfg.str("mlp_hidden_act", "hidden_act", "activation_function", default="silu") not in UNGATED


def read_moe(cfg: Config, index: int = 0) -> Moe:
    """The experts of layer `index`: routed, shared, and their router."""
    traits = traits_of(cfg)
    width = expert_width(cfg, index)
    # DeepSeek V4 routes the first layers by token id, without scores to correct.
    is_hashed = index < cfg.count("num_hash_layers")
    return Moe(
        experts=cfg.int(*EXPERTS, most=EXPERTS_MAX),
        width=width,
        top_k=_top_k(cfg, index),
        gated=is_gated(cfg),
        shared_width=shared_width(cfg, index, width),
        shared_gate=traits.shared_gate,
        shared_gated=is_gated(cfg),
        latent=cfg.opt_int("routed_expert_hidden_size", "moe_latent_size"),
        latent_norm=cfg.bool("latent_moe_use_norm"),
        has_extra_scales=cfg.has("enable_moe_block"),
        router_bias=has_router_bias(cfg) and not is_hashed,
        router_linear_bias=traits.router_linear_bias,
        expert_bias=traits.expert_bias,
        identity_experts=cfg.count("zero_expert_num", most=EXPERTS_MAX),
        hash_rows=cfg.int("vocab_size") if is_hashed else None,
        router_dtype=_router_dtype(cfg),
        name=traits.moe,
        router=traits.router,
        expert=traits.expert,
        shared=traits.shared,
    )


def check_expert_keys(cfg: Config) -> None:
    """Refuse a key about experts that is set and not understood: it may stand for matrices that would be missed."""
    for key in cfg.names():
        is_about = key.startswith("moe_") or "num_experts" in key or (key.startswith("n_") and key.endswith("_experts"))
        value = cfg.raw(key)
        if is_about and key not in _KNOWN and key not in SHARED_WIDTH and isinstance(value, int) and value:
            raise cfg.unknown(key, value, "a key about experts that tonnage knows")


def expert_width(cfg: Config, index: int) -> int:
    """Inner width of one routed expert of layer `index`; one value for all layers, or a list."""
    if isinstance(cfg.raw(*EXPERT_WIDTH), (list, tuple)):
        return _entry(cfg, index, EXPERT_WIDTH)
    # Mixtral, MiniMax and DBRX have one width key for all their parts.
    return cfg.opt_int(*EXPERT_WIDTH) or cfg.int("intermediate_size", "ffn_hidden_size")


def _entry(cfg: Config, index: int, keys: tuple[str, ...]) -> int:
    values = cfg.ints(*keys, least=1) or ()
    if index >= len(values):
        raise cfg.unknown(keys[0], f"{len(values)} entries", "one entry for each layer")
    return values[index]


def _top_k(cfg: Config, index: int) -> int:
    if isinstance(cfg.raw(*TOP_K), (list, tuple)):
        return _entry(cfg, index, TOP_K)
    return cfg.int(*TOP_K, most=EXPERTS_MAX)


def shared_width(cfg: Config, index: int, width: int) -> int:
    """Inner width of all shared experts of layer `index` together, 0 without any."""
    if isinstance(cfg.raw(*SHARED_EXPERTS), (list, tuple)):
        return _entry(cfg, index, SHARED_EXPERTS) * width
    number = cfg.opt_int(*SHARED_EXPERTS, least=0, most=EXPERTS_MAX)
    stated = cfg.opt_int(*SHARED_WIDTH, least=0)
    # Qwen gives the width of all shared experts together and no number of them.
    if number is None:
        return stated if stated is not None else width * traits_of(cfg).has_shared_expert
    return number * (width if stated is None else stated)


def has_router_bias(cfg: Config) -> bool:
    """Whether each expert has a correction value that steers routing."""
    stated = cfg.opt_bool("use_routing_bias", "use_moe_router_bias", "moe_router_enable_expert_bias")
    if stated is not None:
        return stated
    # "noaux_tc" balances experts by correction values in place of an auxiliary loss.
    method = cfg.opt_str("topk_method")
    return traits_of(cfg).router_bias if method is None else method == "noaux_tc"


def _router_dtype(cfg: Config) -> str | None:
    # The engines fix this per model class and leave `moe_router_dtype` aside.
    return traits_of(cfg).router_dtype
