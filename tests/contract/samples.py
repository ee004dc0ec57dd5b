"""Small whole models, as files: a configuration, and the headers that go with it."""

from __future__ import annotations

import json
import struct
from math import prod
from pathlib import Path
from typing import Any

# Two layers of a dense decoder; 106,816 parameters.
CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 256,
    "max_position_embeddings": 128,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}
_LAYER = {
    "self_attn.q_proj": (64, 64), "self_attn.k_proj": (32, 64), "self_attn.v_proj": (32, 64),
    "self_attn.o_proj": (64, 64), "mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64), "mlp.down_proj": (64, 128),
    "input_layernorm": (64,), "post_attention_layernorm": (64,),
}  # fmt: skip
SHAPES = {
    "model.embed_tokens.weight": (256, 64), "lm_head.weight": (256, 64), "model.norm.weight": (64,),
    **{f"model.layers.{n}.{name}.weight": shape for n in (0, 1) for name, shape in _LAYER.items()},
}  # fmt: skip
METADATA: dict[str, Any] = {
    "general.architecture": "llama",
    "llama.block_count": 2,
    "llama.context_length": 128,
    "llama.embedding_length": 64,
    "llama.feed_forward_length": 128,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.vocab_size": 256,
    "llama.rope.dimension_count": 16,
    "tokenizer.ggml.tokens": ["a"] * 256,
}
_BLOCK = {
    "attn_q": (64, 64), "attn_k": (64, 32), "attn_v": (64, 32), "attn_output": (64, 64), "ffn_gate": (64, 128),
    "ffn_up": (64, 128), "ffn_down": (128, 64), "attn_norm": (64,), "ffn_norm": (64,),
}  # fmt: skip
# The fastest axis first, as ggml writes it.
GGUF_SHAPES = {
    "token_embd.weight": (64, 256), "output.weight": (64, 256), "output_norm.weight": (64,),
    **{f"blk.{n}.{name}.weight": shape for n in (0, 1) for name, shape in _BLOCK.items()},
}  # fmt: skip
ALIGNMENT = 32
HALF_FLOAT, SIGNED, TEXT, ARRAY = 1, 11, 8, 9  # ggml's number for a tensor type, GGUF's for value types


def folder(place: Path, **files: Any) -> str:
    """A folder with files by name, `__` for a dot; what is neither bytes nor text is written as JSON."""
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, bytes | str) else json.dumps(content)
        (place / name.replace("__", ".")).write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(place)


def safetensors(extra: int = 0) -> bytes:
    """A whole file for `CONFIG`; `extra` values more than the architecture has."""
    shapes = {**SHAPES, **({"extra.weight": (extra,)} if extra else {})}
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    return framed(json.dumps(header).encode(), bytes(end))


def framed(header: bytes, data: bytes = b"") -> bytes:
    """A header behind its length."""
    return struct.pack("<Q", len(header)) + header + data


def gguf(metadata: dict[str, Any] = METADATA, shapes: dict[str, tuple[int, ...]] = GGUF_SHAPES) -> bytes:
    """A whole file with 16-bit tensors; raw bytes stand for a value with its type."""
    start = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(metadata))
    keys = b"".join(_text(key) + _value(value) for key, value in metadata.items())
    tensors, end = b"", 0
    for name, shape in shapes.items():
        tensors += _text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", axis) for axis in shape)
        tensors += struct.pack("<IQ", HALF_FLOAT, end)
        end = (end - (-2 * prod(shape) // ALIGNMENT) * ALIGNMENT) % (1 << 63)
    head = start + keys + tensors
    return head + bytes(-len(head) % ALIGNMENT + min(end, 1 << 20))


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, int):
        return struct.pack("<Iq", SIGNED, value)
    if isinstance(value, str):
        return struct.pack("<I", TEXT) + _text(value)
    return struct.pack("<IIQ", ARRAY, TEXT, len(value)) + b"".join(map(_text, value))
