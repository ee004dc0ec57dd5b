"""Vision towers of Llama 4 and Muse (shapes of vLLM mllama4.py and muse_glimmer.py)."""

from __future__ import annotations

from tonnage.model.arch import Tower
from tonnage.model.config.keys import LAYERS_MAX, Config
from tonnage.model.config.tower_stack import Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.tower_stack import Tensors

LLAMA4 = "vision_model."
MUSE = "model.vision_encoder."
CHANNELS = 3
SIDE_MAX = 4096

# What the configuration class assumes; engines build a tower even for a file that leaves the vision part out.
LLAMA4_DEFAULTS: dict[str, object] = {
    "hidden_size": 768,
    "intermediate_size": 5632,
    "num_hidden_layers": 34,
    "num_attention_heads": 16,
    "image_size": 448,
    "patch_size": 14,
    "vision_output_dim": 7680,
    "projector_input_dim": 4096,
    "projector_output_dim": 4096,
}


def llama4_tower(stated: Config, text_hidden: int) -> Tower:
    """A ViT with a class token, a pixel-shuffle adapter and one projection into the decoder."""
    vision = Config({**LLAMA4_DEFAULTS, **{key: value for key, value in stated.values.items() if value is not None}})
    hidden, inner = vision.int("hidden_size"), vision.int("intermediate_size")
    layers, heads = vision.int("num_hidden_layers", most=LAYERS_MAX), vision.int("num_attention_heads")
    patch, outer, block = vision.int("patch_size"), Stack(LLAMA4), Stack(f"{LLAMA4}model.layers.0.", layers)
    tensors = (
        *outer.norm("class_embedding", hidden, has_bias=False),
        *outer.table("positional_embedding_vlm", (vision.int("image_size") // patch) ** 2 + 1, hidden),
        *outer.column("patch_embedding.linear", hidden, CHANNELS * patch**2, has_bias=False),
        *outer.norm("layernorm_pre", hidden),
        *outer.norm("layernorm_post", hidden),
        *block.apart("self_attn", hidden, heads),
        *block.row("self_attn.o_proj", hidden, hidden, heads),
        *block.norm("input_layernorm", hidden),
        *block.norm("post_attention_layernorm", hidden),
        *block.column("mlp.fc1", inner, hidden),
        *block.row("mlp.fc2", hidden, inner),
        *_llama4_adapter(vision, inner, text_hidden),
    )
    return Tower("vision", layers, hidden, tensors)


def _llama4_adapter(vision: Config, inner: int, text_hidden: int) -> Tensors:
    adapter, wide = Stack(f"{LLAMA4}vision_adapter.mlp."), vision.int("projector_input_dim")
    projector = Stack("multi_modal_projector.")
    return (
        *adapter.column("fc1", wide, inner, has_bias=False),
        *adapter.row("fc2", vision.int("projector_output_dim"), wide, has_bias=False),
        *projector.column("linear_1", text_hidden, vision.int("vision_output_dim"), has_bias=False),
    )


def muse_tower(vision: Config, text_hidden: int, projector: int) -> Tower:
    """Muse's encoder: attention divides among ranks, feed-forward parts and the projection stand on each."""
    hidden, inner = vision.int("hidden_size"), vision.int("intermediate_size")
    layers, heads = vision.int("num_hidden_layers", most=LAYERS_MAX), vision.int("num_attention_heads")
    outer, block, wide = Stack(MUSE), Stack(f"{MUSE}transformer.0.", layers), hidden * vision.int("merge_size") ** 2
    pixels = CHANNELS * vision.int("patch_temporal", most=SIDE_MAX) * vision.int("patch_size") ** 2
    positions = vision.int("pos_emb_height", most=SIDE_MAX) * vision.int("pos_emb_width", most=SIDE_MAX)
    tensors = (
        *outer.table("conv1_linear", hidden, pixels),
        *outer.table("positional_embedding_vlm", positions, hidden),
        *outer.norm("ln_pre", hidden),
        *outer.norm("ln_post", hidden),
        *block.norm("ln_1", hidden),
        *block.norm("ln_2", hidden),
        *block.qkv("attn.qkv_proj", hidden, hidden, heads),
        *block.row("attn.o_proj", hidden, hidden, heads),
        *block.whole("mlp.c_fc", inner, hidden),
        *block.whole("mlp.c_proj", hidden, inner),
        *Stack("model.vision_adapter.").whole("c_fc", projector, wide, has_bias=False),
        *Stack("model.vision_adapter.").whole("c_proj", projector, projector, has_bias=False),
        *Stack("model.").whole("vision_projection", text_hidden, projector, has_bias=False),
    )
    return Tower("vision", layers, hidden, tensors)
