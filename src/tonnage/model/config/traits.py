"""Facts that a model's type decides because no key of its configuration states them."""

from __future__ import annotations

from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.model.config.keys import Config

    Scope = Literal["none", "head", "full"]


PRE = ("input_layernorm", "post_attention_layernorm")
POST = ("post_attention_layernorm", "post_feedforward_layernorm")
SANDWICH = (*PRE, "pre_feedforward_layernorm", "post_feedforward_layernorm")


@value
class Traits:
    """What a model type implies. A key of the configuration, where there is one, wins over these defaults.

    `norms` are the layer's norms of hidden size; `norm_bias` makes them LayerNorms with a bias. `qkv_bias` and
    `out_bias` apply when no key speaks of biases; `bias_is_qkv_only` limits `attention_bias` to the projections in.
    `pattern` n makes every n-th layer a full one, the others sliding. `ffn_multiple` gives the inner width when
    `intermediate_size` is absent; `positions` is the context, and `sliding_heads` the query heads of sliding layers,
    when no key gives them. `learns_positions` adds a table of positions, after `position_offset` rows kept for padding.
    `mrope_stretch` multiplies the rotary table of multimodal positions. `draft_repeats_tables` says that prediction
    layers store embedding and head once more. The strings at the end are the checkpoint's names of the parts.
    """

    norms: tuple[str, ...] = PRE
    norm_bias: bool = False
    qkv_bias: bool = False
    out_bias: bool = False
    bias_is_qkv_only: bool = False
    qk_norm: Scope = "none"
    out_gate: Scope = "none"
    sinks: bool = False
    pattern: int | None = None
    head_dim: int | None = None
    sliding_heads: int | None = None
    ffn_multiple: int | None = None
    gated: bool = True
    mlp_bias: bool = False
    router_bias: bool = False
    router_linear_bias: bool = False
    expert_bias: bool = False
    router_dtype: str | None = None
    shared_gate: bool = False
    has_shared_expert: bool = False
    tied: bool = False
    has_rope: bool = True
    rope_dtype: str | None = None
    mrope_stretch: int = 1
    partial_rotary: float | None = None
    positions: int | None = None
    learns_positions: bool = False
    position_offset: int = 0
    embedding_norm: bool = False
    draft_repeats_tables: bool = False
    final_norm: str = "norm"
    mixer: str = "self_attn"
    dense: str = "mlp"
    moe: str = "mlp"
    router: str = "gate"
    expert: str = "experts"
    shared: str = "shared_experts"


_LLAMA = Traits()
_QWEN2 = Traits(qkv_bias=True, bias_is_qkv_only=True)
_QWEN2_VL = replace(_QWEN2, mrope_stretch=4)
_QWEN3 = Traits(qk_norm="head", head_dim=128)
_QWEN3_NEXT = Traits(qk_norm="head", head_dim=256, out_gate="full")
_GEMMA = Traits(tied=True, head_dim=256)
_GEMMA2 = replace(_GEMMA, norms=SANDWICH, pattern=2)
_GEMMA3 = replace(_GEMMA, norms=SANDWICH, pattern=6, qk_norm="head", positions=131072)
_GLM4_MOE = Traits(
    bias_is_qkv_only=True,
    head_dim=128,
    partial_rotary=0.5,
    router_bias=True,
    router_dtype="float32",
    draft_repeats_tables=True,
)
_MIXTRAL = Traits(moe="block_sparse_moe")
_MINIMAX = replace(_MIXTRAL, router_dtype="float32")
_COHERE = Traits(norms=("input_layernorm",), tied=True, positions=8192)
_STEP = Traits(qk_norm="head", head_dim=128, sliding_heads=96, out_gate="head")
_GPT2 = Traits(
    norms=("ln_1", "ln_2"),
    norm_bias=True,
    qkv_bias=True,
    out_bias=True,
    gated=False,
    mlp_bias=True,
    ffn_multiple=4,
    tied=True,
    has_rope=False,
    learns_positions=True,
    final_norm="ln_f",
    mixer="attn",
)
_OPT = replace(
    _GPT2,
    norms=("self_attn_layer_norm", "final_layer_norm"),
    final_norm="final_layer_norm",
    mixer="self_attn",
    position_offset=2,
)
_BLOOM = replace(_GPT2, norms=PRE, embedding_norm=True, mixer="self_attention", learns_positions=False, positions=2048)
_FALCON = Traits(
    norms=("input_layernorm",),
    norm_bias=True,
    gated=False,
    ffn_multiple=4,
    tied=True,
    positions=2048,
    final_norm="ln_f",
    mixer="self_attention",
)

# Each row is what the model's published modelling code builds without asking its configuration.
TRAITS: dict[str, Traits] = {
    # Biases on the three input projections, never on the output projection.
    "qwen2": _QWEN2,
    "qwen2_vl": _QWEN2_VL,
    "qwen2_5_vl": _QWEN2_VL,
    "mimo": _QWEN2,
    "seed_oss": replace(_QWEN2, head_dim=128),
    "qwen2_moe": replace(_QWEN2, shared="shared_expert", shared_gate=True),
    # A norm on each query and key head replaces the biases; from Qwen3-Next on, the query projection carries a gate.
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
    "qwen3_vl": _QWEN3,
    "qwen3_vl_moe": _QWEN3,
    "qwen3_next": replace(_QWEN3_NEXT, shared="shared_expert", shared_gate=True),
    "qwen3_5": _QWEN3_NEXT,
    "qwen3_5_moe": replace(_QWEN3_NEXT, shared="shared_expert", shared_gate=True),
    # Heads of 256, norms before and after each part from the second generation on, tied embeddings.
    "gemma": _GEMMA,
    "gemma2": _GEMMA2,
    "gemma3": _GEMMA3,
    "gemma4": replace(_GEMMA3, moe="experts", router="router"),
    # Norms stand behind the parts, and one over the whole query and key projection.
    "olmo2": Traits(norms=POST, qk_norm="full"),
    "olmo3": Traits(norms=POST, qk_norm="full"),
    # One norm feeds attention and feed-forward in parallel.
    "cohere": _COHERE,
    "cohere2": replace(_COHERE, pattern=4),
    "falcon": _FALCON,
    "glm4_moe": _GLM4_MOE,
    "glm4_moe_lite": Traits(router_bias=True, router_dtype="float32", draft_repeats_tables=True),
    "glm_moe_dsa": Traits(router_bias=True),
    "deepseek_v3": Traits(router_bias=True, draft_repeats_tables=True),
    "deepseek_v32": Traits(router_bias=True, draft_repeats_tables=True),
    "kimi_k2": Traits(router_bias=True),
    "hy_v3": Traits(qk_norm="head", head_dim=128, router_bias=True, router_dtype="float32", shared="shared_mlp"),
    "hunyuan_v1_moe": Traits(qk_norm="head", head_dim=128, tied=True, shared="shared_mlp"),
    "mixtral": _MIXTRAL,
    "minimax_m2": _MINIMAX,
    "minimax_m3": replace(_MINIMAX, qk_norm="head"),
    "mimo_v2_flash": Traits(bias_is_qkv_only=True, router_bias=True, router_dtype="float32"),
    "gpt_oss": Traits(
        qkv_bias=True,
        out_bias=True,
        sinks=True,
        router="router",
        router_linear_bias=True,
        expert_bias=True,
        pattern=2,
        rope_dtype="float32",
    ),
    # Every expert layer has one shared expert of the routed experts' width.
    "llama4": Traits(
        router="router",
        moe="feed_forward",
        dense="feed_forward",
        has_shared_expert=True,
        shared="shared_expert",
        pattern=4,
    ),
    "dbrx": Traits(
        norms=("norm_attn_norm.norm_1", "norm_attn_norm.norm_2"),
        final_norm="norm_f",
        mixer="norm_attn_norm.attn",
        moe="ffn",
        router="router.layer",
    ),
    "grok-1": Traits(
        norms=("pre_attn_norm", "post_attn_norm", "pre_moe_norm", "post_moe_norm"),
        tied=True,
        mixer="attn",
        moe="moe_block",
    ),
    "laguna": Traits(qk_norm="head", head_dim=128, router_bias=True, shared="shared_expert"),
    "step3p5": Traits(
        qk_norm="head", head_dim=128, sliding_heads=96, out_gate="head", moe="moe", shared="share_expert"
    ),
    "muse_glimmer": Traits(norms=SANDWICH, out_gate="full"),
    "gpt2": _GPT2,
    "opt": _OPT,
    "bloom": _BLOOM,
    # No rotary embedding: their state-space layers carry the order of tokens.
    "nemotron_h": Traits(has_rope=False),
    "jamba": Traits(
        norms=("input_layernorm", "pre_ff_layernorm"),
        has_rope=False,
        router="router",
        moe="feed_forward",
        dense="feed_forward",
    ),
    "kimi_linear": Traits(has_rope=False, moe="block_sparse_moe"),
}

_ALIASES = {
    "step3p7": "step3p5",
    "minimax_m3_vl": "minimax_m3",
    "kimi_k25": "kimi_k2",
    "kimi_k3": "kimi_linear",
    "grok1model": "grok-1",
}
_SUFFIXES = ("_text", "_vl", "_vlm")
_CAUSAL = "ForCausalLM"


def read_family(cfg: Config) -> str:
    """The model type as the table names it, without endings such as `_text`; unlisted types as they are."""
    named = _model_type(cfg)
    candidates = (named.removesuffix(suffix) for suffix in ("", *_SUFFIXES))
    return next((name for name in candidates if name in TRAITS), named)


def _model_type(cfg: Config) -> str:
    named = cfg.str("model_type")
    if not named:
        # The architecture's name decides when the key is missing.
        first = (cfg.strs("architectures") or ("",))[0]
        named = first.removesuffix(_CAUSAL).lower()
    return _ALIASES.get(named, named)


def traits_of(cfg: Config) -> Traits:
    """The traits of a configuration; plain Llama for types that the table does not list."""
    return TRAITS.get(read_family(cfg), _LLAMA)
