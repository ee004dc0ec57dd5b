"""Rotary tables: the engines keep one per distinct rotation, of all positions and rotated dimensions.

The rules are those of vLLM's rotary embedding classes (0.32): which types stretch the table, and when layers share one.
"""

from __future__ import annotations

from tonnage.model.arch import Rope
from tonnage.model.config.keys import Config
from tonnage.model.config.surround import max_context
from tonnage.model.config.traits import traits_of
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Layer

STRETCHED = ("yarn", "deepseek_yarn", "deepseek_llama_scaling")
LINEAR = "linear"
LONG = ("longrope", "su")
PROPORTIONAL = "proportional"
KINDS = ("full_attention", "sliding_attention")
# Rotation bases that sliding layers have for themselves.
LOCAL_BASES = ("rope_local_base_freq", "swa_rope_theta")
# Vision encoders of Qwen and GLM rotate half of each head over a fixed number of patch positions.
VISION_POSITIONS = 8192


def read_ropes(cfg: Config, layers: tuple[Layer, ...], vision: Config | None = None) -> tuple[Rope, ...]:
    """The rotary tables of a model with `layers`, and of its vision encoder where that keeps one."""
    tables = dict.fromkeys(_tables(cfg, layers)) if traits_of(cfg).has_rope else {}
    towers = () if vision is None else _vision_tables(vision)
    return (*(rope for _, rope in tables), *towers)


def _tables(cfg: Config, layers: tuple[Layer, ...]) -> list[tuple[str, Rope]]:
    """A table per layer, marked so that equal marks and sizes mean one table."""
    found: list[tuple[str, Rope]] = []
    for mixer in dict.fromkeys(mixer for layer in layers for mixer in layer.mixers):
        if isinstance(mixer, Gqa):
            found.append(_gqa_table(cfg, mixer))
        elif isinstance(mixer, Mla):
            found += _mla_tables(cfg, mixer)
        elif isinstance(mixer, Compressed):
            # DeepSeek V4 keeps 32 bits for precision over a million positions, and layers that do not compress
            # rotate by a base of their own.
            rope = Rope(_positions(cfg, rope_parameters(cfg)), mixer.rope_dim, "float32")
            found.append(("" if mixer.ratio else "window", rope))
    return found


def _gqa_table(cfg: Config, mixer: Gqa) -> tuple[str, Rope]:
    is_local = mixer.window is not None
    kind = KINDS[is_local]
    parameters = rope_parameters(cfg, kind)
    # Different bases make different tables, even of one size.
    mark = kind if cfg.has(*LOCAL_BASES) or _is_nested(cfg) else ""
    stretch = Config({}) if is_local and cfg.has(*LOCAL_BASES) else parameters
    rope = Rope(_positions(cfg, stretch), _rotary_dim(cfg, parameters, mixer.head_dim), traits_of(cfg).rope_dtype)
    return mark, rope


def _mla_tables(cfg: Config, mixer: Mla) -> list[tuple[str, Rope]]:
    rope = Rope(_positions(cfg, rope_parameters(cfg)), mixer.rope_dim)
    # The attention rotates interleaved pairs; an indexer that rotates halves needs a table of its own.
    is_apart = mixer.indexer is not None and not cfg.bool("indexer_rope_interleave")
    return [("", rope), ("indexer", rope)] if is_apart else [("", rope)]


def rope_parameters(cfg: Config, kind: str = KINDS[0]) -> Config:
    """The rotation's parameters, under their old or new key, those of a layer kind if they differ by kind."""
    parameters = cfg.sub("rope_parameters", "rope_scaling", "rope_scaling_dict") or Config({})
    return parameters.sub(kind) or parameters


def _is_nested(cfg: Config) -> bool:
    parameters = cfg.sub("rope_parameters", "rope_scaling")
    return parameters is not None and parameters.has(*KINDS)


def _positions(cfg: Config, parameters: Config) -> int:
    kind = parameters.str("rope_type", "type", default="default")
    context = max_context(cfg)
    original = parameters.opt_int("original_max_position_embeddings")
    original = original or cfg.opt_int("original_max_position_embeddings", "initial_context_length")
    factor = parameters.opt_float("factor") or 1.0
    if kind in STRETCHED:
        return int((original or context) * factor)
    if kind in LONG:
        # The short and the long table stand one after the other.
        return context + (original or 0)
    # Older multimodal code leaves room for positions of video frames that pruning skips.
    stretch = traits_of(cfg).mrope_stretch if parameters.has("mrope_section") else 1
    return int(context * factor) if kind == LINEAR else context * stretch


def _rotary_dim(cfg: Config, parameters: Config, head_dim: int) -> int:
    # Gemma 4 fills the part that does not rotate with zero angles.
    if parameters.opt_str("rope_type", "type") == PROPORTIONAL:
        return head_dim
    fraction = parameters.opt_float("partial_rotary_factor", most=1)
    stated = cfg.opt_int("rotary_dim", "rope_dim", most=head_dim) if fraction is None else None
    if stated is not None:
        return stated
    fraction = fraction or cfg.opt_float("partial_rotary_factor", "rotary_pct", most=1) or traits_of(cfg).partial_rotary
    return int(head_dim * fraction) if fraction is not None else head_dim


def _vision_tables(vision: Config) -> tuple[Rope, ...]:
    if not (vision.has("spatial_merge_size") and vision.has("depth") and vision.has("num_heads")):
        return ()
    head = vision.int("hidden_size") // vision.int("num_heads")
    return (Rope(VISION_POSITIONS, head // 2),)
