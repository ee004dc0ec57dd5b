"""Vision and audio encoders: which keys tell their kind, and an estimate for kinds that are not known."""

from __future__ import annotations

from tonnage.model.arch import Tower
from tonnage.model.config.feedforward import EXPERTS, EXPERTS_MAX
from tonnage.model.config.keys import LAYERS_MAX, Config, hidden_size, num_layers, text_config
from tonnage.model.config.tower_gemma import gemma4_tower, siglip_tower
from tonnage.model.config.tower_kimi import kimi_tower
from tonnage.model.config.tower_meta import llama4_tower, muse_tower
from tonnage.model.config.tower_others import deepseek_tower, minimax_tower, pixtral_tower, step_tower
from tonnage.model.config.tower_qwen import qwen2_5_tower, qwen2_tower, qwen3_tower
from tonnage.model.config.tower_stack import Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VISION = ("vision_config", "visual_config", "vision_tower_config")
AUDIO = ("audio_config", "sound_config", "speech_config")
LAYERS = ("num_hidden_layers", "depth", "layers", "encoder_layers")
WIDTH = ("hidden_size", "embed_dim", "width", "d_model")
INNER = ("intermediate_size", "encoder_ffn_dim")
HEADS = ("num_attention_heads", "num_heads", "encoder_attention_heads", "heads")
MERGE_DEFAULT = 2
INNER_DEFAULT = 4
APPROXIMATE = " (approximate)"


def read_towers(config: Mapping[str, object]) -> tuple[Tower, ...]:
    """The encoders of a whole configuration, with their projectors; empty for a model of text only."""
    outer = Config(config)
    vision = _vision(outer)
    audio = outer.sub(*AUDIO)
    towers = [] if vision is None else [vision]
    if audio is not None and _is_sized(audio):
        towers.append(generic_tower(audio, hidden_size(text_config(config)), "audio"))
    return tuple(towers)


def tower_notes(towers: tuple[Tower, ...]) -> tuple[str, ...]:
    """What a reader must know about `towers`: which of them are estimates."""
    return tuple(
        f"the size of the {tower.kind.removesuffix(APPROXIMATE)} encoder is an estimate: its make is not known"
        for tower in towers
        if tower.kind.endswith(APPROXIMATE)
    )


def _vision(outer: Config) -> Tower | None:
    vision = outer.sub(*VISION)
    if vision is None:
        has_tower = outer.str("model_type") == "llama4"
        return llama4_tower(Config({}), hidden_size(text_config(outer.values))) if has_tower else None
    if not vision.values:
        return None
    text = text_config(outer.values)
    return _by_width(vision) or _by_keys(vision, outer, text) or _fallback(vision, hidden_size(text))


def _by_width(vision: Config) -> Tower | None:
    """Towers whose configuration states the decoder's width itself."""
    if vision.has("vt_hidden_size"):
        return kimi_tower(vision)
    if not vision.has("depth"):
        return None
    if vision.has("embed_dim"):
        return qwen2_tower(vision)
    if vision.has("fullatt_block_indexes", "window_size"):
        return qwen2_5_tower(vision)
    return qwen3_tower(vision) if vision.has("out_hidden_size") else None


def _by_keys(vision: Config, outer: Config, text: Config) -> Tower | None:
    hidden = hidden_size(text)
    if vision.has("pixel_shuffle_ratio", "vision_output_dim"):
        return llama4_tower(vision, hidden)
    if vision.has("pooling_kernel_size", "position_embedding_size"):
        return gemma4_tower(vision, hidden, outer.opt_int("vision_soft_tokens_per_image"))
    if outer.has("mm_tokens_per_image"):
        return siglip_tower(vision, hidden, outer.opt_int("mm_tokens_per_image"))
    if vision.has("img_token_compression_config"):
        projector = outer.opt_int("projector_hidden_size") or hidden
        return minimax_tower(vision, hidden, projector, outer.bool("multimodal_projector_bias"))
    if vision.has("patch_temporal"):
        return muse_tower(vision, hidden, outer.int("projector_hidden_size"))
    if vision.has("downsample_ratio") and text.has("compress_ratios"):
        return deepseek_tower(vision, hidden, _image_routes(text))
    if vision.has("width") and vision.has("layers"):
        return step_tower(vision, hidden, outer.bool("projector_bias"))
    if vision.str("model_type") == "pixtral":
        merge = outer.opt_int("spatial_merge_size") or MERGE_DEFAULT
        return pixtral_tower(vision, hidden, merge, outer.bool("multimodal_projector_bias"))
    return None


def _image_routes(text: Config) -> int:
    """Router biases for images: one per expert of every layer, those of the draft included."""
    experts = text.int(*EXPERTS, most=EXPERTS_MAX)
    drafts = text.count("num_nextn_predict_layers", most=LAYERS_MAX)
    return experts * num_layers(text) + (text.opt_int("dspark_n_routed_experts") or experts) * drafts


def _fallback(vision: Config, text_hidden: int) -> Tower | None:
    return generic_tower(vision, text_hidden, "vision") if _is_sized(vision) else None


def _is_sized(part: Config) -> bool:
    return part.has(*LAYERS) and part.has(*WIDTH)


def generic_tower(part: Config, text_hidden: int, kind: str) -> Tower:
    """An estimate for an encoder of unknown make: plain blocks without biases, and two projections.

    Blocks have 4 hidden^2 + 2 hidden inner parameters; embeddings of patches or frames are left out.
    """
    hidden, layers = part.int(*WIDTH), part.int(*LAYERS, most=LAYERS_MAX)
    inner, heads = part.opt_int(*INNER) or INNER_DEFAULT * hidden, part.opt_int(*HEADS) or 1
    block, projector = Stack(f"{kind}_tower.layers.0.", layers, heads), Stack(f"{kind}_projector.")
    tensors = (
        *block.qkv("attn.qkv", hidden, hidden, heads, has_bias=False),
        *block.row("attn.proj", hidden, hidden, heads, has_bias=False),
        *block.column("mlp.fc1", inner, hidden, has_bias=False),
        *block.row("mlp.fc2", hidden, inner, has_bias=False),
        *block.norm("norm1", hidden, has_bias=False),
        *block.norm("norm2", hidden, has_bias=False),
        *projector.whole("linear_1", text_hidden, hidden, has_bias=False),
        *projector.whole("linear_2", text_hidden, text_hidden, has_bias=False),
    )
    return Tower(f"{kind}{APPROXIMATE}", layers, hidden, tensors)
