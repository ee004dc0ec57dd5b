"""Configuration keys of softmax attention: grouped-query, latent, sparse."""

from __future__ import annotations

from tonnage.model.config.keys import Config, hidden_size, num_layers
from tonnage.model.config.traits import traits_of
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.traits import Scope

HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads", "num_attention_groups")
WINDOW = ("sliding_window", "sliding_window_size")
SLIDING = ("sliding_attention", "sliding", "local", "local_attention", "swa")
CHUNKED = ("chunked_attention",)
FULL = ("full_attention", "attention", "full", "global", "global_attention", "standard")

_QK_NORM_KEYS = ("use_qk_norm", "qk_layernorm", "use_qk_layernorm", "add_qk_norm")
_QK_NORM_SCOPES: dict[str, Scope] = {"per_layer": "full", "per_head": "head"}
# Llama 4's L2 norms and Command R's full-width ones share one key with per-head norms.
_QK_NORM_BY_TYPE: dict[str, Scope] = {"llama4_text": "none", "llama4": "none", "cohere": "full"}
_GATES: dict[object, Scope] = {
    "per-head": "head",
    "per_head": "head",
    True: "head",
    False: "none",
    "per-element": "full",
}


def read_attention(cfg: Config, index: int) -> Gqa | Mla:
    """The attention of decoder layer `index`; latent when `kv_lora_rank` is given."""
    if cfg.has("kv_lora_rank"):
        return read_mla(cfg, index)
    return read_gqa(cfg, index)


def read_mla(cfg: Config, index: int) -> Mla:
    """Latent attention with its sparse indexer, if any."""
    indexer = read_indexer(cfg)
    return Mla(
        heads=cfg.int(*HEADS),
        q_lora_rank=cfg.opt_int("q_lora_rank"),
        kv_lora_rank=cfg.int("kv_lora_rank"),
        nope_dim=cfg.int("qk_nope_head_dim"),
        rope_dim=cfg.int("qk_rope_head_dim"),
        v_dim=cfg.int("v_head_dim"),
        indexer=indexer if _owns_indexer(cfg, index) else None,
        is_sparse=indexer is not None,
        out_gate=cfg.bool("mla_use_output_gate"),
    )


def read_indexer(cfg: Config) -> Indexer | None:
    """The token selector of DeepSeek sparse attention, or None."""
    if not cfg.has("index_topk"):
        return None
    pool = cfg.opt_int("index_kpool") or 1
    return Indexer(cfg.int("index_n_heads"), cfg.int("index_head_dim"), cfg.int("index_topk"), pool)


def _owns_indexer(cfg: Config, index: int) -> bool:
    kind = per_layer(cfg, "indexer_types", index, ("full", "shared"))
    if kind is not None:
        return kind == "full"
    every, offset = cfg.opt_int("index_topk_freq") or 1, cfg.count("index_skip_topk_offset")
    # The layers before the offset select for themselves; afterwards the last of each group of `every` does.
    return index < offset or (index - offset + 1) % every == 0


def read_gqa(cfg: Config, index: int) -> Gqa:
    """Grouped-query attention of layer `index`, with whatever that layer's kind overrides."""
    kind = layer_kind(cfg, index)
    own = _overrides(cfg, index, kind)
    traits = traits_of(cfg)
    heads = own.int(*HEADS)
    head_dim = _head_dim(own, heads)
    is_shared = cfg.bool("attention_k_eq_v") and kind in FULL
    norm = _qk_norm(cfg)
    return Gqa(
        heads=heads,
        kv_heads=_kv_heads(own, heads),
        head_dim=head_dim,
        v_head_dim=own.opt_int("v_head_dim") or head_dim,
        window=cfg.int(*WINDOW) if kind in SLIDING else None,
        chunk=cfg.opt_int("attention_chunk_size") if kind in CHUNKED else None,
        qkv_bias=_qkv_bias(cfg),
        out_bias=_out_bias(cfg),
        qk_norm=norm,
        out_gate=_out_gate(cfg),
        shared_k=is_shared,
        kv_from_layer=_kv_source(cfg, index),
        sinks=_has_sinks(cfg, kind),
        indexer=_block_indexer(cfg, index),
        name=traits.mixer,
    )


def per_layer(cfg: Config, key: str, index: int, accepted: tuple[str, ...]) -> str | None:
    """Entry `index` of a list of layer kinds; None without the list, an error for a kind not in `accepted`."""
    kinds = cfg.opt_list(key)
    if kinds is None or index >= len(kinds):
        return None
    kind = kinds[index]
    if not isinstance(kind, str) or kind not in accepted:
        raise cfg.unknown(key, kind, f"one of {', '.join(accepted)}")
    return kind


def layer_kind(cfg: Config, index: int) -> str:
    """What layer `index` attends to: a full, sliding or chunked kind."""
    listed = per_layer(cfg, "layer_types", index, (*FULL, *SLIDING, *CHUNKED))
    return listed or _implied_kind(cfg, index)


def _implied_kind(cfg: Config, index: int) -> str:
    # MiMo states a chunk size too and does not use it; Llama 4 is the one that steps its experts.
    if cfg.has("attention_chunk_size") and cfg.has("interleave_moe_layer_step"):
        return FULL[0] if _is_nope(cfg, index) else CHUNKED[0]
    # In this list 1 marks a sliding layer.
    flags = cfg.ints("hybrid_layer_pattern", most=1)
    if flags is not None:
        return SLIDING[0] if index < len(flags) and flags[index] else FULL[0]
    # Qwen2 files state a window and switch it off.
    if not cfg.has(*WINDOW) or cfg.opt_bool("use_sliding_window") is False:
        return FULL[0]
    if cfg.bool("use_sliding_window"):
        return SLIDING[0] if index >= cfg.count("max_window_layers") else FULL[0]
    pattern = cfg.opt_int("sliding_window_pattern", "_sliding_window_pattern") or traits_of(cfg).pattern
    return FULL[0] if pattern is not None and (index + 1) % pattern == 0 else SLIDING[0]


def _is_nope(cfg: Config, index: int) -> bool:
    # Llama 4: layers without rotation see everything. 0 marks them.
    rotated = cfg.ints("no_rope_layers", most=1)
    if rotated:
        return index < len(rotated) and not rotated[index]
    pattern = cfg.opt_int("no_rope_layer_interval") or traits_of(cfg).pattern
    return pattern is not None and (index + 1) % pattern == 0


def _overrides(cfg: Config, index: int, kind: str) -> Config:
    """The view with the values that this layer's kind puts in place of the general ones."""
    values = dict(cfg.values)
    if kind in SLIDING:
        _replace(values, "num_attention_heads", traits_of(cfg).sliding_heads)
        other = cfg.sub("attention_other_setting")
        values.update(other.values if other else {})
        # MiMo names each value of its sliding layers with a prefix.
        renamed = {key.removeprefix("swa_"): value for key, value in cfg.values.items() if key.startswith("swa_")}
        values.update(renamed)
    elif cfg.has("layer_types"):
        # Gemma 4 names those of its full layers apart.
        _replace(values, "head_dim", cfg.opt_int("global_head_dim"))
        _replace(values, "num_key_value_heads", cfg.opt_int("num_global_key_value_heads"))
    heads = cfg.ints("num_attention_heads_per_layer", least=1)
    _replace(values, "num_attention_heads", heads[index] if heads and index < len(heads) else None)
    return Config(values, cfg.path)


def _replace(values: dict[str, object], key: str, value: int | None) -> None:
    if value is not None:
        values[key] = value


def _kv_heads(cfg: Config, heads: int) -> int:
    if cfg.opt_bool("multi_query") and not cfg.bool("new_decoder_architecture"):
        return 1
    return cfg.opt_int(*KV_HEADS) or heads


def _head_dim(cfg: Config, heads: int) -> int:
    # The type comes before the quotient: Qwen3 and Gemma heads are wider than hidden / heads.
    stated = cfg.opt_int("head_dim", "attention_head_dim", "kv_channels")
    return stated or traits_of(cfg).head_dim or max(1, hidden_size(cfg) // heads)


def _qkv_bias(cfg: Config) -> bool:
    # Falcon and MPT call it `bias`.
    stated = cfg.opt_bool("qkv_bias", "attention_bias", "use_qkv_bias", "bias")
    # Qwen2's code ignores the key and always has the bias.
    return traits_of(cfg).qkv_bias or bool(stated)


def _out_bias(cfg: Config) -> bool:
    if cfg.has("attention_out_bias", "attention_output_bias", "o_bias"):
        return cfg.bool("attention_out_bias", "attention_output_bias", "o_bias")
    # One key means all four projections in Llama's code and only the three inward ones in others.
    traits = traits_of(cfg)
    return traits.out_bias or (cfg.bool("attention_bias", "bias") and not traits.bias_is_qkv_only)


def _qk_norm(cfg: Config) -> Scope:
    if not cfg.has(*_QK_NORM_KEYS):
        return traits_of(cfg).qk_norm
    if not cfg.bool(*_QK_NORM_KEYS):
        return "none"
    scope = cfg.opt_str("qk_norm_type")
    if scope is None:
        return _QK_NORM_BY_TYPE.get(cfg.str("model_type"), "head")
    if scope not in _QK_NORM_SCOPES:
        raise cfg.unknown("qk_norm_type", scope, f"one of {', '.join(_QK_NORM_SCOPES)}")
    return _QK_NORM_SCOPES[scope]


def _out_gate(cfg: Config) -> Scope:
    if cfg.has("attn_output_gate", "attention_output_gate", "use_attn_output_gate"):
        is_gated = cfg.bool("attn_output_gate", "attention_output_gate", "use_attn_output_gate")
        return "full" if is_gated else "none"
    if cfg.has("use_head_wise_attn_gate"):
        return "head" if cfg.bool("use_head_wise_attn_gate") else "none"
    gating = cfg.raw("gating")
    if gating is None:
        return traits_of(cfg).out_gate
    if not isinstance(gating, (bool, str)) or gating not in _GATES:
        raise cfg.unknown("gating", gating, "true, false, per-head or per-element")
    return _GATES[gating]


def _has_sinks(cfg: Config, kind: str) -> bool:
    key = "add_swa_attention_sink_bias" if kind in SLIDING else "add_full_attention_sink_bias"
    return cfg.bool(key, default=traits_of(cfg).sinks)


def _kv_source(cfg: Config, index: int) -> int | None:
    """The last layer of the same kind among those that own a cache, for the layers that own none."""
    # The sharing layers are the last ones.
    num_shared = cfg.count("num_kv_shared_layers")
    first_shared = num_layers(cfg) - num_shared if num_shared else index + 1
    if index < first_shared or index >= first_shared + num_shared:
        return None
    kind = layer_kind(cfg, index)
    owners = (other for other in range(first_shared - 1, -1, -1) if layer_kind(cfg, other) == kind)
    source = next(owners, None)
    if source is None:
        raise cfg.unknown("num_kv_shared_layers", cfg.raw("num_kv_shared_layers"), f"an earlier {kind} layer to share")
    return source


def _block_indexer(cfg: Config, index: int) -> Indexer | None:
    sparse = cfg.sub("sparse_attention_config")
    if sparse is None or not sparse.bool("use_sparse_attention", default=True):
        return None
    frequency = sparse.ints("sparse_attention_freq", most=1)
    if frequency is not None and (index >= len(frequency) or not frequency[index]):
        return None
    dim = sparse.int("sparse_index_dim")
    return Indexer(sparse.int("sparse_num_index_heads"), dim, sparse.int("sparse_topk_blocks"))
