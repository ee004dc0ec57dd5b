"""Vision towers of MiniMax M3, Pixtral / Mistral, DeepSeek V4.1 and Step (shapes of vLLM's models)."""

from __future__ import annotations

from tonnage.model.arch import Tower
from tonnage.model.config.keys import LAYERS_MAX, Config
from tonnage.model.config.tower_stack import Stack
from tonnage.model.tensor import vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.tower_stack import Tensors

CHANNELS = 3
SIDE_MAX = 4096
RATIO_MAX = 64.0
MINIMAX = "vision_tower.vision_model."
PIXTRAL = "vision_tower."
STEP = "vision_model."
# Step's two convolutions behind the encoder have kernels of this side and double the width each.
STEP_KERNEL = 3


def minimax_tower(vision: Config, text_hidden: int, projector: int, has_bias: bool) -> Tower:
    """MiniMax M3: a CLIP-like encoder, a projector and a merger of neighbouring patches."""
    hidden, inner, layers, heads = _sizes(vision)
    compression = vision.sub("img_token_compression_config") or Config({})
    frames = compression.opt_int("temporal_patch_size", most=SIDE_MAX) or 2
    merged = text_hidden * (compression.opt_int("spatial_merge_size", most=SIDE_MAX) or 2) ** 2
    outer, block = Stack(MINIMAX), Stack(f"{MINIMAX}encoder.layers.0.", layers)
    pixels = (vision.opt_int("num_channels") or CHANNELS) * frames * vision.int("patch_size") ** 2
    tensors = (
        *outer.patches("embeddings.patch_embedding", hidden, pixels, has_bias=False),
        *outer.norm("pre_layrnorm", hidden),
        *_biased_block(block, hidden, inner, heads),
        *_two_layers("multi_modal_projector.", (hidden, projector, text_hidden), has_bias),
        *_two_layers("patch_merge_mlp.", (merged, projector, text_hidden), has_bias),
    )
    return Tower("vision", layers, hidden, tensors)


def _biased_block(block: Stack, hidden: int, inner: int, heads: int) -> Tensors:
    return (
        *block.apart("self_attn", hidden, heads),
        *block.row("self_attn.out_proj", hidden, hidden, heads),
        *block.norm("layer_norm1", hidden),
        *block.norm("layer_norm2", hidden),
        *block.column("mlp.fc1", inner, hidden),
        *block.row("mlp.fc2", hidden, inner),
    )


def _two_layers(prefix: str, widths: tuple[int, int, int], has_bias: bool) -> Tensors:
    stack, (first, middle, last) = Stack(prefix), widths
    inward = stack.column("linear_1", middle, first, has_bias=has_bias)
    return inward + stack.row("linear_2", last, middle, has_bias=has_bias)


def pixtral_tower(vision: Config, text_hidden: int, merge: int, has_bias: bool) -> Tower:
    """Pixtral under Mistral 3: RMS norms, gated parts without biases, a merger of neighbouring patches."""
    hidden, inner, layers, heads = _sizes(vision)
    outer, block = Stack(PIXTRAL), Stack(f"{PIXTRAL}transformer.layers.0.", layers)
    projector = Stack("multi_modal_projector.")
    tensors = (
        *outer.patches("patch_conv", hidden, CHANNELS * vision.int("patch_size") ** 2, has_bias=False),
        *outer.norm("ln_pre", hidden, has_bias=False),
        *block.apart("attention", hidden, heads, has_bias=False),
        *block.row("attention.o_proj", hidden, hidden, heads, has_bias=False),
        *block.column("feed_forward.gate_proj", inner, hidden, has_bias=False),
        *block.column("feed_forward.up_proj", inner, hidden, has_bias=False),
        *block.row("feed_forward.down_proj", hidden, inner, has_bias=False),
        *block.norm("attention_norm", hidden, has_bias=False),
        *block.norm("ffn_norm", hidden, has_bias=False),
        *projector.norm("norm", hidden, has_bias=False),
        *projector.table("patch_merger.merging_layer", hidden, hidden * merge**2),
        *_two_layers("multi_modal_projector.", (hidden, text_hidden, text_hidden), has_bias),
    )
    return Tower("vision", layers, hidden, tensors)


def deepseek_tower(vision: Config, text_hidden: int, routes: int) -> Tower:
    """DeepSeek V4.1: a ViT with RMS norms, an aligner, three marker vectors, and `routes` router biases for images."""
    hidden, inner, layers, heads = _sizes(vision)
    outer, block, aligner = Stack("vision."), Stack("vision.blocks.0.", layers, heads), Stack("aligner.", 1, heads)
    wide = hidden * vision.int("downsample_ratio", most=SIDE_MAX) ** 2
    tensors = (
        *outer.whole("patch_embed.proj", hidden, CHANNELS * vision.int("patch_size") ** 2),
        *outer.norm("norm", hidden, has_bias=False),
        *block.norm("norm1", hidden, has_bias=False),
        *block.norm("norm2", hidden, has_bias=False),
        *block.qkv("attn.wqkv", hidden, hidden, heads),
        *block.row("attn.wo", hidden, hidden, heads),
        *block.column("mlp.w1", 2 * inner, hidden, inner, has_bias=False),
        *block.row("mlp.w2", hidden, inner, has_bias=False),
        *aligner.column("w1", text_hidden, wide),
        *aligner.row("w2", text_hidden, text_hidden),
        *(vector(f"image_{name}", text_hidden, dtype="float32") for name in ("start", "end", "newline")),
        vector("gate.bias_vl", routes, dtype="float32"),
    )
    return Tower("vision", layers, hidden, tensors, vision.opt_int("max_image_tokens"))


def step_tower(vision: Config, text_hidden: int, has_bias: bool) -> Tower:
    """Step: a perception encoder with layer scales, two convolutions that shrink the image, one projection."""
    hidden, layers, heads = vision.int("width"), vision.int("layers", most=LAYERS_MAX), vision.int("heads")
    inner = int(hidden * (vision.opt_float("mlp_ratio", most=RATIO_MAX) or 1))
    outer, block = Stack(STEP), Stack(f"{STEP}transformer.resblocks.0.", layers)
    scales = ("ls_1", "ls_2") if vision.has("ls_init_value") else ()
    tensors = (
        *_step_outer(outer, vision, hidden),
        *block.qkv("attn.in_proj", hidden, hidden, heads),
        *block.row("attn.out_proj", hidden, hidden, heads),
        *(tensor for name in scales for tensor in block.norm(name, hidden, has_bias=False)),
        *block.norm("ln_1", hidden),
        *block.norm("ln_2", hidden),
        *block.column("mlp.c_fc", inner, hidden),
        *block.row("mlp.c_proj", hidden, inner),
        *Stack("vit_large_projector").column("", text_hidden, 2 * 2 * hidden, has_bias=has_bias),
    )
    return Tower("vision", layers, hidden, tensors)


def _step_outer(outer: Stack, vision: Config, hidden: int) -> Tensors:
    patch, kernel = vision.int("patch_size"), STEP_KERNEL**2
    is_class = vision.bool("use_cls_token")
    positions = (vision.int("image_size") // patch) ** 2 + is_class
    norms = (name for name in ("ln_pre", "ln_post") if vision.bool(f"use_{name}", default=name == "ln_pre"))
    return (
        *outer.patches("conv1", hidden, CHANNELS * patch**2, has_bias=False),
        *(tensor for name in norms for tensor in outer.norm(name, hidden)),
        *(outer.norm("class_embedding", hidden, has_bias=False) if is_class else ()),
        *(outer.table("positional_embedding", positions, hidden) if vision.bool("use_abs_posemb") else ()),
        *outer.patches("vit_downsampler1", 2 * hidden, hidden * kernel),
        *outer.patches("vit_downsampler2", 2 * 2 * hidden, 2 * hidden * kernel),
    )


def _sizes(vision: Config) -> tuple[int, int, int, int]:
    layers, heads = vision.int("num_hidden_layers", most=LAYERS_MAX), vision.int("num_attention_heads")
    return vision.int("hidden_size"), vision.int("intermediate_size"), layers, heads
