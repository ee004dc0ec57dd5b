"""From a configuration file to an `Arch`."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.arch import Arch, Layer
from tonnage.model.config.attention import read_attention
from tonnage.model.config.blocks import block_layers
from tonnage.model.config.draft import read_draft, read_duplicates
from tonnage.model.config.feedforward import check_expert_keys, read_ffns
from tonnage.model.config.hybrid import hybrid_layers, hybrid_outer
from tonnage.model.config.keys import Config, hidden_size, num_layers, text_config, vocab_size
from tonnage.model.config.rope import read_ropes
from tonnage.model.config.surround import final_norms, layer_extras, max_context, outer_tables, read_prefix
from tonnage.model.config.tower import read_towers, tower_notes
from tonnage.model.config.traits import read_family, traits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from tonnage.model.quantization.scheme import Scheme

DTYPES = ("bfloat16", "float16", "float32")
DEFAULT_DTYPE = "bfloat16"

# Low ranks whose place in the model is known; another one is a matrix that would be missing from the count.
LOW_RANKS = ("q_lora_rank", "kv_lora_rank", "o_lora_rank")


def read_arch(config: Mapping[str, object], scheme: Scheme | None = None) -> Arch:
    """The architecture that `config`, the content of a configuration file, describes.

    `scheme` is the checkpoint's quantisation, carried along. An UnreadableError names a key that is missing or has
    an impossible value; an UnknownKeyError names one that decides memory and is not understood.
    """
    outer, cfg = Config(config), text_config(config)
    check_low_ranks(cfg)
    check_expert_keys(cfg)
    layers = merge_equal(hybrid_layers(cfg) or block_layers(cfg) or plain_layers(cfg))
    draft, towers = read_draft(cfg, layers), read_towers(config)
    prefix = read_prefix(outer, cfg)
    return Arch(
        family=read_family(cfg),
        architectures=outer.strs("architectures") or (),
        hidden=hidden_size(cfg),
        vocab=vocab_size(cfg),
        tied=is_tied(outer, cfg),
        max_context=max_context(cfg),
        dtype=read_dtype(outer, cfg),
        layers=layers,
        prefix=prefix,
        norms=final_norms(cfg, prefix),
        outer=outer_tables(cfg, prefix) + hybrid_outer(cfg, prefix),
        towers=towers,
        draft=draft,
        ropes=read_ropes(cfg, layers, outer.sub("vision_config")),
        scheme=scheme,
        kv_dtype=scheme.kv_dtype if scheme else None,
        duplicates=read_duplicates(cfg, draft),
        head_bias=cfg.bool("lm_head_bias"),
        notes=tower_notes(towers),
    )


def merge_equal(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """The same layers, equal ones being one object, so that whoever counts them can do so once."""
    known: dict[Layer, Layer] = {}
    return tuple(known.setdefault(layer, layer) for layer in layers)


def plain_layers(cfg: Config) -> tuple[Layer, ...]:
    """Layers of one attention and its feed-forward part each."""
    extras = layer_extras(cfg)
    return tuple(
        Layer((read_attention(cfg, index),), read_ffns(cfg, index), extras) for index in range(num_layers(cfg))
    )


def is_tied(outer: Config, cfg: Config) -> bool:
    """Whether the embedding table serves as the output head."""
    # The text's own word first: multimodal wrappers carry a default of their class.
    stated = cfg.opt_bool("tie_word_embeddings")
    if stated is None:
        stated = outer.opt_bool("tie_word_embeddings")
    return traits_of(cfg).tied if stated is None else stated


def read_dtype(outer: Config, cfg: Config) -> str:
    """The compute type of the checkpoint: bfloat16, float16 or float32; bfloat16 when the file gives none."""
    stated = cfg.opt_str("torch_dtype", "dtype") or outer.opt_str("torch_dtype", "dtype") or DEFAULT_DTYPE
    name = stated.removeprefix("torch.")
    if name == "auto":
        return DEFAULT_DTYPE
    if name not in DTYPES:
        raise UnreadableError(f"{cfg.path}torch_dtype", stated, f"one of {', '.join(DTYPES)}")
    return name


def check_low_ranks(cfg: Config) -> None:
    """Refuse a low-rank projection that no reader knows."""
    for key in cfg.names():
        if key.endswith("_lora_rank") and key not in LOW_RANKS and cfg.has(key):
            raise cfg.unknown(key, cfg.raw(key), f"one of {', '.join(LOW_RANKS)}")
