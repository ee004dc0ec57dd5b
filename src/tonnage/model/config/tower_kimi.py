"""Vision tower of Kimi K2.5 and K3, MoonViT with a patch merger (shapes of vLLM kimi_k25_vit.py)."""

from __future__ import annotations

from tonnage.model.arch import Tower
from tonnage.model.config.keys import LAYERS_MAX
from tonnage.model.config.tower_stack import Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config
    from tonnage.model.config.tower_stack import Tensors

PREFIX = "vision_tower."
PROJECTOR = "mm_projector."
CHANNELS = 3
SIDE_MAX = 4096
PROJECTORS = ("patchmerger", "patchmergerv2")


def kimi_tower(vision: Config) -> Tower:
    """The encoder with its projector; heads may be wider than the residual stream (K3)."""
    hidden, inner = vision.int("vt_hidden_size"), vision.int("vt_intermediate_size")
    layers, heads = vision.int("vt_num_hidden_layers", most=LAYERS_MAX), vision.int("vt_num_attention_heads")
    width = vision.opt_int("qkv_hidden_size") or hidden
    has_bias, is_biased = vision.bool("attn_bias", default=True), vision.bool("linear_bias", default=True)
    is_layer_norm = vision.str("norm_type", default="layernorm") == "layernorm"
    block = Stack(f"{PREFIX}encoder.blocks.0.", layers, heads)
    tensors = (
        *_patches(vision, hidden),
        *block.norm("norm0", hidden, is_layer_norm),
        *block.norm("norm1", hidden, is_layer_norm),
        *block.qkv("wqkv", width, hidden, heads, has_bias),
        *block.row("wo", hidden, width, heads, has_bias),
        *block.column("mlp.fc0", inner, hidden, has_bias=is_biased),
        *block.row("mlp.fc1", hidden, inner, has_bias=is_biased),
        *Stack(PREFIX).norm("encoder.final_layernorm", hidden, is_layer_norm),
        *_projector(vision, hidden),
    )
    return Tower("vision", layers, hidden, tensors)


def _patches(vision: Config, hidden: int) -> Tensors:
    stack, pixels = Stack(f"{PREFIX}patch_embed."), CHANNELS * vision.int("patch_size") ** 2
    rows = vision.int("init_pos_emb_height", most=SIDE_MAX) * vision.int("init_pos_emb_width", most=SIDE_MAX)
    patches = stack.patches("proj", hidden, pixels, vision.bool("patch_embed_proj_bias", default=True))
    return patches + stack.table("pos_emb", rows, hidden)


def _projector(vision: Config, hidden: int) -> Tensors:
    kind = vision.str("mm_projector_type", default=PROJECTORS[0])
    if kind not in PROJECTORS:
        raise vision.unknown("mm_projector_type", kind, f"one of {', '.join(PROJECTORS)}")
    stack, text_hidden = Stack(PROJECTOR), vision.int("text_hidden_size")
    wide = hidden
    for side in vision.ints("merge_kernel_size", least=1, most=SIDE_MAX) or (2, 2):
        wide *= side
    has_bias = kind == PROJECTORS[0]
    linear = stack.whole("linear_1", wide, wide, has_bias) + stack.whole("linear_2", text_hidden, wide, has_bias)
    return linear + (stack.norm("pre_norm", hidden) if has_bias else stack.norm("post_norm", text_hidden, False))
