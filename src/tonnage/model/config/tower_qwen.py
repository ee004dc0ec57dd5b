"""Vision towers of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3.5 (shapes of vLLM's models of the same names)."""

from __future__ import annotations

from tonnage.model.arch import Tower
from tonnage.model.config.keys import LAYERS_MAX
from tonnage.model.config.tower_stack import Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.config.keys import Config
    from tonnage.model.config.tower_stack import Tensors

PREFIX = "model.visual."
CHANNELS = 3
SIDE_MAX = 4096
RATIO_MAX = 64.0
# What the configuration classes assume where a key is missing.
QWEN2_RATIO = 4
QWEN3_POSITIONS = 2304
QWEN3_DEEPSTACK = (8, 16, 24)


def qwen2_tower(vision: Config) -> Tower:
    """Qwen2-VL: `embed_dim` is the width, `hidden_size` that of the decoder."""
    hidden, layers, heads = vision.int("embed_dim"), _layers(vision), vision.int("num_heads")
    inner = int(hidden * (vision.opt_float("mlp_ratio", most=RATIO_MAX) or QWEN2_RATIO))
    block = Stack(f"{PREFIX}blocks.0.", layers)
    tensors = (
        *Stack(PREFIX).patches("patch_embed.proj", hidden, _pixels(vision), has_bias=False),
        *block.norm("norm1", hidden),
        *block.norm("norm2", hidden),
        *_attention(block, hidden, heads),
        *block.column("mlp.fc1", inner, hidden),
        *block.row("mlp.fc2", hidden, inner),
        *_mlp_merger(vision, hidden, vision.int("hidden_size"), has_bias=True),
    )
    return Tower("vision", layers, hidden, tensors)


def qwen2_5_tower(vision: Config) -> Tower:
    """Qwen2.5-VL: RMS norms and a gated feed-forward part with biases."""
    hidden, layers, heads = vision.int("hidden_size"), _layers(vision), vision.int("num_heads")
    inner, block = vision.int("intermediate_size"), Stack(f"{PREFIX}blocks.0.", layers)
    tensors = (
        *Stack(PREFIX).patches("patch_embed.proj", hidden, _pixels(vision), has_bias=False),
        *block.norm("norm1", hidden, has_bias=False),
        *block.norm("norm2", hidden, has_bias=False),
        *_attention(block, hidden, heads),
        *block.column("mlp.gate_proj", inner, hidden),
        *block.column("mlp.up_proj", inner, hidden),
        *block.row("mlp.down_proj", hidden, inner),
        *_mlp_merger(vision, hidden, vision.int("out_hidden_size"), has_bias=False),
    )
    return Tower("vision", layers, hidden, tensors)


def qwen3_tower(vision: Config) -> Tower:
    """Qwen3-VL and Qwen3.5: learned positions, and in the former a merger for each tapped block."""
    hidden, layers, heads = vision.int("hidden_size"), _layers(vision), vision.int("num_heads")
    inner, outer, block = vision.int("intermediate_size"), Stack(PREFIX), Stack(f"{PREFIX}blocks.0.", layers)
    taps = vision.ints("deepstack_visual_indexes", most=LAYERS_MAX)
    positions = vision.opt_int("num_position_embeddings") or QWEN3_POSITIONS
    tensors = (
        *outer.patches("patch_embed.proj", hidden, _pixels(vision)),
        *outer.table("pos_embed", positions, hidden),
        *block.norm("norm1", hidden),
        *block.norm("norm2", hidden),
        *_attention(block, hidden, heads),
        *block.column("mlp.linear_fc1", inner, hidden),
        *block.row("mlp.linear_fc2", hidden, inner),
        *_merger(Stack(f"{PREFIX}merger."), vision, hidden, is_tap=False),
        *_taps(vision, hidden, len(QWEN3_DEEPSTACK if taps is None else taps)),
    )
    return Tower("vision", layers, hidden, tensors)


def _layers(vision: Config) -> int:
    return vision.int("depth", most=LAYERS_MAX)


def _pixels(vision: Config) -> int:
    frames = vision.opt_int("temporal_patch_size", most=SIDE_MAX) or 1
    return (vision.opt_int("in_channels", "in_chans") or CHANNELS) * frames * vision.int("patch_size") ** 2


def _attention(block: Stack, hidden: int, heads: int) -> Tensors:
    return block.qkv("attn.qkv", hidden, hidden, heads) + block.row("attn.proj", hidden, hidden, heads)


def _merged(vision: Config, hidden: int) -> int:
    return hidden * (vision.opt_int("spatial_merge_size", most=SIDE_MAX) or 2) ** 2


def _mlp_merger(vision: Config, hidden: int, text_hidden: int, has_bias: bool) -> Tensors:
    stack, wide = Stack(f"{PREFIX}merger."), _merged(vision, hidden)
    projections = stack.column("mlp.0", wide, wide) + stack.row("mlp.2", text_hidden, wide)
    return stack.norm("ln_q", hidden, has_bias) + projections


def _merger(stack: Stack, vision: Config, hidden: int, is_tap: bool) -> Tensors:
    """Joins neighbouring patches; the norm of a tap stands behind the joining, that of the output before it."""
    wide = _merged(vision, hidden)
    projections = stack.column("linear_fc1", wide, wide) + stack.row("linear_fc2", vision.int("out_hidden_size"), wide)
    return stack.norm("norm", wide if is_tap else hidden) + projections


def _taps(vision: Config, hidden: int, count: int) -> Tensors:
    if not count:
        return ()
    return _merger(Stack(f"{PREFIX}deepstack_merger_list.0.", count), vision, hidden, is_tap=True)
