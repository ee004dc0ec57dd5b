"""Multi-token-prediction layers: what checkpoints carry of them, for engines that speculate.

Counts and shapes are those of the models' own code and of published parameter totals.
"""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import read_attention
from tonnage.model.config.compressed import compressed_layer, mix, streams
from tonnage.model.config.feedforward import read_dense, read_ffns
from tonnage.model.config.keys import LAYERS_MAX, Config, hidden_size, num_layers, vocab_size
from tonnage.model.config.nemotron import DRAFT_KEYS, nemotron_layer, read_kinds
from tonnage.model.config.surround import layer_extras, norms
from tonnage.model.config.traits import read_family, traits_of
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.tensor import Tensor
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.tensor import Split

COUNT_KEYS = ("num_nextn_predict_layers", "mtp_num_hidden_layers")
# Published checkpoints of these types hold prediction layers that no key of the configuration declares.
UNDECLARED = {"qwen3_next": 1, "longcat_flash": 1, "glm4_moe": 1, "glm4_moe_lite": 1, "mimo_v2_flash": 3}
# MiniMax declares modules that its published checkpoints do not hold.
UNPUBLISHED = "num_mtp_modules"
# These predict with sliding attention and a dense part where the decoder has experts.
DENSE_TYPES = ("mimo_v2_flash", "step3p5", "longcat_flash")
# Qwen divides the joining matrix among ranks; the others keep it whole.
QWEN_KEY = "linear_num_value_heads"
EMBEDDING_ONLY = "zero_expert_num"


def read_draft(cfg: Config, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """The prediction layers that come with a decoder of `layers`; empty when the checkpoint holds none.

    The parameters that join the last hidden state with the next embedding are extras of each layer.
    """
    count = num_draft(cfg)
    if not count:
        return ()
    if cfg.has("compress_ratios"):
        return tuple(_compressed_draft(cfg, number, count) for number in range(count))
    if cfg.has(*DRAFT_KEYS):
        return _nemotron_draft(cfg) * count
    return (_draft_layer(cfg, layers),) * count


def num_draft(cfg: Config) -> int:
    """Number of prediction layers in the published checkpoint."""
    if cfg.has(UNPUBLISHED):
        return 0
    declared = cfg.opt_int(*COUNT_KEYS, least=0, most=LAYERS_MAX)
    return UNDECLARED.get(read_family(cfg), 0) if declared is None else declared


def read_duplicates(cfg: Config, draft: tuple[Layer, ...]) -> int:
    """Parameters of embedding and head that the checkpoint stores again with its prediction layers."""
    table = vocab_size(cfg) * hidden_size(cfg)
    if not draft:
        return 0
    if cfg.has(EMBEDDING_ONLY):
        return table
    if read_family(cfg) == "step3p5":
        return table * len(draft)
    return 2 * table if traits_of(cfg).draft_repeats_tables else 0


def _draft_layer(cfg: Config, layers: tuple[Layer, ...]) -> Layer:
    """A prediction layer like the decoder's last one with softmax attention."""
    is_dense = read_family(cfg) in DENSE_TYPES
    model = _model_layer(cfg, layers, is_dense)
    mixer = model.mixers[0]
    if isinstance(mixer, Mla):
        # One latent attention even where the decoder has two; with an indexer of its own (GLM 5).
        mixer = read_attention(cfg, num_layers(cfg))
    ffns = (read_dense(cfg),) if is_dense else model.ffns
    if isinstance(mixer, Mla) and not is_dense:
        ffns = read_ffns(cfg, num_layers(cfg))
    return Layer((mixer,), ffns, (*layer_extras(cfg), *_joint(cfg)))


def _model_layer(cfg: Config, layers: tuple[Layer, ...], is_dense: bool) -> Layer:
    for layer in reversed(layers):
        mixer = layer.mixers[0] if layer.mixers else None
        if isinstance(mixer, Mla):
            return layer
        if isinstance(mixer, Gqa) and (mixer.window is not None or not is_dense):
            return replace(layer, mixers=(replace(mixer, kv_from_layer=None),))
    raise cfg.unknown(COUNT_KEYS[0], cfg.raw(*COUNT_KEYS), "0: no layer with attention serves as the model of a draft")


def _joint(cfg: Config) -> tuple[Tensor, ...]:
    hidden = hidden_size(cfg)
    if cfg.has(QWEN_KEY):
        return _join(cfg, "fc", "rows") + norms(("pre_fc_norm_hidden", "pre_fc_norm_embedding", "norm"), hidden)
    return _join(cfg, "eh_proj", "none") + norms(("enorm", "hnorm", "shared_head.norm"), hidden)


def _join(cfg: Config, name: str, split: Split) -> tuple[Tensor, ...]:
    hidden = hidden_size(cfg)
    return (Tensor(name, hidden, 2 * hidden, split, "linear" if split == "rows" else "plain"),)


def _nemotron_draft(cfg: Config) -> tuple[Layer, ...]:
    """One layer per letter; the first joins, the last normalises."""
    kinds = read_kinds(cfg, *DRAFT_KEYS)
    if not kinds:
        raise cfg.unknown(DRAFT_KEYS[0], "no layers", "at least one layer")
    hidden = hidden_size(cfg)
    layers = [nemotron_layer(cfg, kind) for kind in kinds]
    joint = _join(cfg, "eh_proj", "rows") + norms(("enorm", "hnorm"), hidden)
    layers[0] = replace(layers[0], extras=layers[0].extras + joint)
    layers[-1] = replace(layers[-1], extras=layers[-1].extras + norms(("final_layernorm",), hidden))
    return tuple(layers)


def _compressed_draft(cfg: Config, number: int, count: int) -> Layer:
    if cfg.has("dspark_target_layer_ids"):
        layer = compressed_layer(_spark_view(cfg), num_layers(cfg) + number)
        return replace(layer, extras=layer.extras + _spark_extras(cfg, number == 0, number == count - 1))
    layer = compressed_layer(cfg, num_layers(cfg) + number)
    hidden, width = hidden_size(cfg), streams(cfg) * hidden_size(cfg)
    joint = tuple(Tensor(name, hidden, hidden) for name in ("e_proj", "h_proj"))
    own = (*joint, *norms(("enorm", "hnorm", "norm"), hidden), *mix("hc_head", streams(cfg), width, 1))
    return replace(layer, extras=layer.extras + own)


def _spark_view(cfg: Config) -> Config:
    """The keys with the draft's own experts in place of the decoder's."""
    values = dict(cfg.values)
    own = {"n_routed_experts": "dspark_n_routed_experts", "num_experts_per_tok": "dspark_num_experts_per_tok"}
    values.update({key: cfg.int(draft) for key, draft in own.items() if cfg.has(draft)})
    return Config(values, cfg.path)


def _spark_extras(cfg: Config, is_first: bool, is_last: bool) -> tuple[Tensor, ...]:
    """The projection of the target's hidden states in front of the first layer, the heads behind the last."""
    hidden, vocab = hidden_size(cfg), vocab_size(cfg)
    first = Tensor("main_proj", hidden, hidden * len(cfg.list("dspark_target_layer_ids")))
    rank = cfg.int("dspark_markov_rank")
    last = (
        *norms(("norm",), hidden),
        Tensor("markov_head.markov_w1", vocab, rank, kind="embedding"),
        Tensor("markov_head.markov_w2", vocab, rank, "vocab", "embedding"),
        Tensor("confidence_head.proj", 1, hidden + rank, kind="plain"),
    )
    return ((first, *norms(("main_norm",), hidden)) if is_first else ()) + (last if is_last else ())
