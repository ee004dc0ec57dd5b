"""Vision towers of Gemma 3 (SigLIP) and Gemma 4 (shapes of vLLM siglip.py, gemma3_mm.py and the checkpoints)."""

from __future__ import annotations

from tonnage.model.arch import Tower
from tonnage.model.config.keys import LAYERS_MAX
from tonnage.model.config.tower_stack import Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config
    from tonnage.model.config.tower_stack import Tensors

SIGLIP = "vision_tower.vision_model."
GEMMA4 = "model.vision_tower."
CHANNELS = 3


def siglip_tower(vision: Config, text_hidden: int, max_tokens: int | None) -> Tower:
    """SigLIP and Gemma 3's projection: a matrix into the decoder and a norm."""
    hidden, layers, heads = _sizes(vision)
    inner, patch = vision.int("intermediate_size"), vision.int("patch_size")
    outer, block = Stack(SIGLIP), Stack(f"{SIGLIP}encoder.layers.0.", layers)
    projector = Stack("multi_modal_projector.")
    tensors = (
        *outer.patches("embeddings.patch_embedding", hidden, CHANNELS * patch**2),
        *outer.table("embeddings.position_embedding", (vision.int("image_size") // patch) ** 2, hidden),
        *block.apart("self_attn", hidden, heads),
        *block.row("self_attn.out_proj", hidden, hidden, heads),
        *block.norm("layer_norm1", hidden),
        *block.norm("layer_norm2", hidden),
        *block.column("mlp.fc1", inner, hidden),
        *block.row("mlp.fc2", hidden, inner),
        *outer.norm("post_layernorm", hidden),
        *projector.table("mm_input_projection_weight", hidden, text_hidden),
        *projector.norm("mm_soft_emb_norm", hidden, has_bias=False),
    )
    return Tower("vision", layers, hidden, tensors, max_tokens)


def gemma4_tower(vision: Config, text_hidden: int, max_tokens: int | None) -> Tower:
    """Gemma 4's own encoder. Engines run it undivided, so no tensor has a split."""
    hidden, layers, _ = _sizes(vision)
    outer, block = Stack(GEMMA4), Stack(f"{GEMMA4}encoder.layers.0.", layers)
    tensors = (
        *outer.table("patch_embedder.position_embedding_table", 2 * vision.int("position_embedding_size"), hidden),
        *outer.table("patch_embedder.input_proj", hidden, CHANNELS * vision.int("patch_size") ** 2),
        *_gemma4_block(block, vision, hidden),
        *_standardisation(outer, vision, hidden),
        *Stack("model.embed_vision.").whole("embedding_projection", text_hidden, hidden, has_bias=False),
    )
    return Tower("vision", layers, hidden, tensors, max_tokens)


def _gemma4_block(block: Stack, vision: Config, hidden: int) -> Tensors:
    heads, dim, inner = vision.int("num_attention_heads"), vision.int("head_dim"), vision.int("intermediate_size")
    keys = vision.opt_int("num_key_value_heads") or heads
    shapes = {
        "self_attn.q_proj.linear": (heads * dim, hidden),
        "self_attn.k_proj.linear": (keys * dim, hidden),
        "self_attn.v_proj.linear": (keys * dim, hidden),
        "self_attn.o_proj.linear": (hidden, heads * dim),
        "mlp.gate_proj.linear": (inner, hidden),
        "mlp.up_proj.linear": (inner, hidden),
        "mlp.down_proj.linear": (hidden, inner),
    }
    norms = {"self_attn.q_norm": dim, "self_attn.k_norm": dim, "input_layernorm": hidden}
    norms |= {f"{name}_layernorm": hidden for name in ("post_attention", "pre_feedforward", "post_feedforward")}
    matrices = (tensor for name, shape in shapes.items() for tensor in block.whole(name, *shape, has_bias=False))
    return (*matrices, *(tensor for name, size in norms.items() for tensor in block.norm(name, size, has_bias=False)))


def _standardisation(outer: Stack, vision: Config, hidden: int) -> Tensors:
    if not vision.bool("standardize"):
        return ()
    return outer.norm("std_bias", hidden, has_bias=False) + outer.norm("std_scale", hidden, has_bias=False)


def _sizes(vision: Config) -> tuple[int, int, int]:
    layers = vision.int("num_hidden_layers", most=LAYERS_MAX)
    return vision.int("hidden_size"), layers, vision.int("num_attention_heads")
