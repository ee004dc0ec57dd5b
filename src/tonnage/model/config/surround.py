"""What surrounds a layer's parts and the layers themselves: norms, scalars, tables outside the decoder."""

from __future__ import annotations

from tonnage.model.config.keys import hidden_size, num_layers, vocab_size
from tonnage.model.config.traits import traits_of
from tonnage.model.tensor import Tensor, vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config

# Gemma 4 normalises the outputs of its dense part and of its experts apart, and the experts' input once more.
PARALLEL_NORMS = ("post_feedforward_layernorm_1", "post_feedforward_layernorm_2", "pre_feedforward_layernorm_2")
FALCON_NORMS = ("ln_attn", "ln_mlp")

# Checkpoints of a text model nested in a larger one; anything else nested stands under `model.language_model.`.
_OUTSIDE = ("kimi_k25", "kimi_k3", "llama4", "minimax_m3_vl", "gemma3", "mistral3", "llava", "deepseek_v41")
_PREFIXES = {"gpt2": "transformer.", "dbrx": "transformer.", "falcon": "transformer.", "bloom": "transformer.",
             "nemotron_h": "backbone.", "deepseek_v4": "", "opt": "model.decoder."}  # fmt: skip
HEAD_OUTSIDE = "language_model."


def read_prefix(outer: Config, cfg: Config) -> str:
    """What stands before `layers.N.` in the checkpoint's tensor names."""
    kind = outer.str("model_type")
    # Without nesting, text and file are one.
    if not cfg.path:
        return _PREFIXES.get(kind, "model.")
    return f"{HEAD_OUTSIDE}model." if kind in _OUTSIDE else "model.language_model."


def layer_extras(cfg: Config) -> tuple[Tensor, ...]:
    """The norms of one decoder layer and what else belongs to none of its parts."""
    hidden, traits = hidden_size(cfg), traits_of(cfg)
    names = FALCON_NORMS if cfg.bool("new_decoder_architecture") else traits.norms
    extras = norms(names, hidden, traits.norm_bias)
    if cfg.bool("enable_moe_block"):
        extras += norms(PARALLEL_NORMS, hidden)
    return extras + _gemma_extras(cfg, hidden)


def norms(names: tuple[str, ...], hidden: int, has_bias: bool = False) -> tuple[Tensor, ...]:
    """One norm of `hidden` elements per name, each with a bias if `has_bias`."""
    weights = tuple(vector(name, hidden) for name in names)
    return weights + (tuple(vector(f"{name}.bias", hidden) for name in names) if has_bias else ())


def _gemma_extras(cfg: Config, hidden: int) -> tuple[Tensor, ...]:
    if not cfg.has("hidden_size_per_layer_input"):
        return ()
    # The key is there, if 0, in every Gemma 4; the scalar too.
    scalar = vector("layer_scalar", 1)
    width = cfg.count("hidden_size_per_layer_input")
    if not width:
        return (scalar,)
    gate = Tensor("per_layer_input_gate", width, hidden)
    projection = Tensor("per_layer_projection", hidden, width)
    return (scalar, gate, projection, vector("post_per_layer_input_norm", hidden))


def final_norms(cfg: Config, prefix: str) -> tuple[Tensor, ...]:
    """The norm behind the last layer, and one behind the embedding where the model has it (Bloom)."""
    hidden, traits = hidden_size(cfg), traits_of(cfg)
    names = (traits.final_norm, "word_embeddings_layernorm") if traits.embedding_norm else (traits.final_norm,)
    return norms(tuple(f"{prefix}{name}" for name in names), hidden, traits.norm_bias)


def outer_tables(cfg: Config, prefix: str) -> tuple[Tensor, ...]:
    """Tables outside the layers: learned positions (GPT-2, OPT), embeddings per layer (small Gemma 4)."""
    traits, hidden = traits_of(cfg), hidden_size(cfg)
    tables: tuple[Tensor, ...] = ()
    if traits.learns_positions:
        rows = max_context(cfg) + traits.position_offset
        tables += (Tensor(f"{prefix}wpe", rows, hidden, kind="embedding"),)
    width = cfg.count("hidden_size_per_layer_input")
    if width:
        tables += _per_layer_tables(cfg, prefix, width * num_layers(cfg), width)
    return tables


def _per_layer_tables(cfg: Config, prefix: str, total: int, width: int) -> tuple[Tensor, ...]:
    rows = cfg.opt_int("vocab_size_per_layer_input") or vocab_size(cfg)
    return (
        Tensor(f"{prefix}embed_tokens_per_layer", rows, total, "vocab", "embedding"),
        Tensor(f"{prefix}per_layer_model_projection", total, hidden_size(cfg), "rows"),
        vector(f"{prefix}per_layer_projection_norm", width),
    )


def max_context(cfg: Config) -> int:
    """The longest context in tokens that the configuration allows."""
    keys = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "seq_length", "n_ctx")
    stated = cfg.opt_int(*keys) or traits_of(cfg).positions
    return stated if stated is not None else cfg.int(*keys)
