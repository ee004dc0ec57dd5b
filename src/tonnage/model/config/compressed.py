"""Configuration keys of DeepSeek V4 and V4.1: compressed attention, hyper-connections, n-gram tables."""

from __future__ import annotations

from tonnage.model.arch import Layer
from tonnage.model.config.attention import HEADS, read_indexer
from tonnage.model.config.engram import engram_tensors
from tonnage.model.config.feedforward import read_ffns
from tonnage.model.config.keys import LAYERS_MAX, hidden_size, num_layers
from tonnage.model.config.surround import norms
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import OVERLAP_RATIO, Compressed
from tonnage.model.tensor import Tensor, vector
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Ffn
    from tonnage.model.config.keys import Config
    from tonnage.model.mixer.indexer import Indexer

NORMS = ("attn_norm", "ffn_norm")
HEAVY_RATIO = 128
RATIOS = (0, OVERLAP_RATIO, HEAVY_RATIO)
# V4.1 pools two tokens or none (vLLM deepseek_v41/compressor.py).
SHARED_RATIOS = (0, 1, 2)
STREAMS_MAX = 64
# One scale each for the mixing in, the mixing out and the mixing of streams.
SCALES_PER_PART = 3


def compressed_layers(cfg: Config) -> tuple[Layer, ...]:
    """Decoder layers; `compress_ratios` gives one ratio for each."""
    layers, ratios = num_layers(cfg), cfg.ints("compress_ratios") or ()
    if len(ratios) < layers:
        raise cfg.unknown("compress_ratios", f"{len(ratios)} entries", f"one entry for each of {layers} layers")
    return tuple(compressed_layer(cfg, index) for index in range(layers))


def compressed_layer(cfg: Config, index: int) -> Layer:
    """Layer `index`; those behind the last one are draft layers, without compression unless a ratio is given."""
    extras = (*norms(NORMS, hidden_size(cfg)), *hyper_connections(cfg), *engram_tensors(cfg, index, streams(cfg)))
    return Layer((read_compressed(cfg, index),), _ffns(cfg, index), extras)


def read_compressed(cfg: Config, index: int) -> Compressed:
    """The attention of layer `index`."""
    shares, ratio = cfg.has("kv_source_layer_ids"), _ratio(cfg, index)
    sources = cfg.ints("kv_source_layer_ids", most=LAYERS_MAX) or ()
    return Compressed(
        heads=cfg.int(*HEADS),
        head_dim=cfg.int("head_dim"),
        rope_dim=cfg.int("qk_rope_head_dim"),
        q_lora_rank=cfg.int("q_lora_rank"),
        o_lora_rank=cfg.int("o_lora_rank"),
        o_groups=cfg.int("o_groups"),
        ratio=ratio,
        window=cfg.int("sliding_window"),
        indexer=_indexer(cfg, index, ratio),
        owns_kv=index in sources if shares and ratio else True,
        shares_latent=shares,
        name="attn",
    )


def _ratio(cfg: Config, index: int) -> int:
    ratios = cfg.ints("compress_ratios") or ()
    accepted = SHARED_RATIOS if cfg.has("kv_source_layer_ids") else RATIOS
    ratio = ratios[index] if index < len(ratios) else 0
    if ratio not in accepted:
        raise cfg.unknown("compress_ratios", ratio, f"one of {', '.join(map(str, accepted))}")
    return ratio


def _indexer(cfg: Config, index: int, ratio: int) -> Indexer | None:
    if cfg.has("kv_source_layer_ids"):
        is_source = ratio > 0 and index in (cfg.ints("index_source_layer_ids", most=LAYERS_MAX) or ())
    else:
        is_source = ratio == OVERLAP_RATIO
    return read_indexer(cfg) if is_source else None


def _ffns(cfg: Config, index: int) -> tuple[Ffn, ...]:
    return tuple(replace(part, name="ffn") if isinstance(part, Moe) else part for part in read_ffns(cfg, index))


def streams(cfg: Config) -> int:
    """Number of residual streams, 1 without hyper-connections."""
    return cfg.opt_int("hc_mult", most=STREAMS_MAX) or 1


def hyper_connections(cfg: Config) -> tuple[Tensor, ...]:
    """The mixing of residual streams before and after both parts of a layer, in 32 bits.

    For m streams: m (m + 2) mixing values each from all streams, as many constants, 3 scales, twice.
    """
    if not cfg.has("hc_mult"):
        return ()
    count, hidden = streams(cfg), hidden_size(cfg)
    values = count * (count + 2)
    return tuple(
        tensor for part in ("attn", "ffn") for tensor in mix(f"hc_{part}", values, count * hidden, SCALES_PER_PART)
    )


def mix(name: str, values: int, width: int, scales: int) -> tuple[Tensor, ...]:
    """One learned mixing of streams: a matrix `values` x `width`, constants and scales, in 32 bits."""
    return (
        Tensor(f"{name}_fn", values, width, kind="plain", dtype="float32"),
        vector(f"{name}_base", values, dtype="float32"),
        vector(f"{name}_scale", scales, dtype="float32"),
    )


def stream_head(cfg: Config, prefix: str) -> tuple[Tensor, ...]:
    """The mixing that joins the streams behind the last layer; V4.1 does without."""
    if not cfg.has("hc_mult") or cfg.has("kv_source_layer_ids"):
        return ()
    count = streams(cfg)
    return mix(f"{prefix}hc_head", count, count * hidden_size(cfg), 1)
