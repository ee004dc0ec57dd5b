"""Models from files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tonnage.errors import UnreadableError, UsageError
from tonnage.model.quantization.match import format_of
from tonnage.plan.sources import Opened, open_source
from tonnage.seams.fakes import FakePlaces, FakeStore
from tonnage.seams.store import Place

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "num_hidden_layers": 1,
    "vocab_size": 1000,
    "max_position_embeddings": 512,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}
LAYER = "model.layers.0."
SHAPES = {
    "model.embed_tokens": [1000, 128],
    "model.norm": [128],
    f"{LAYER}input_layernorm": [128],
    f"{LAYER}post_attention_layernorm": [128],
    f"{LAYER}self_attn.q_proj": [128, 128],
    f"{LAYER}self_attn.k_proj": [64, 128],
    f"{LAYER}self_attn.v_proj": [64, 128],
    f"{LAYER}self_attn.o_proj": [128, 128],
    f"{LAYER}mlp.gate_proj": [256, 128],
    f"{LAYER}mlp.up_proj": [256, 128],
    f"{LAYER}mlp.down_proj": [128, 256],
}
BYTES = {"BF16": 2, "F8_E4M3": 1, "F32": 4}
Pack = Callable[..., bytes]


def header_bytes(opened: Opened) -> int:
    """Bytes of all tensors that the headers list."""
    assert opened.headers is not None
    return opened.headers.total.stored_bytes


def header(dtypes: dict[str, str]) -> dict[str, Any]:
    """A safetensors header of the small model, matrices in the dtype given for their module."""
    out, start = {}, 0
    for name, shape in SHAPES.items():
        dtype = dtypes.get(name, "BF16")
        size = BYTES[dtype]
        for axis in shape:
            size *= axis
        out[f"{name}.weight"] = {"dtype": dtype, "shape": shape, "data_offsets": [start, start + size]}
        start += size
    return out


def places(safetensors: Pack, dtypes: dict[str, str] | None = None, **files: bytes) -> FakePlaces:
    """A folder `model` with this configuration and these tensors."""
    found = dict(files)
    if dtypes is not None:
        table = header(dtypes)
        last = max(entry["data_offsets"][1] for entry in table.values())
        found["model.safetensors"] = safetensors(table, bytes(last))
    return FakePlaces({"model": Place(FakeStore(found, origin="model"))})


def config(**changes: Any) -> bytes:
    """A configuration file."""
    return json.dumps({**CONFIG, **changes}).encode()


def test_a_configuration_alone(safetensors: Pack) -> None:
    opened = open_source("model", None, places(safetensors, **{"config.json": config()}))
    assert opened.arch.hidden == 128
    assert (opened.headers, opened.notes, opened.origin) == (None, (), "model")


def test_headers_that_agree(safetensors: Pack) -> None:
    opened = open_source("model", None, places(safetensors, {}, **{"config.json": config()}))
    # 128,000 table + 3 x 128 norms + 128 x (128 + 64 + 64 + 128) + 3 x 256 x 128, two bytes each
    assert header_bytes(opened) == 2 * (128_000 + 384 + 49_152 + 98_304)
    assert opened.headers is not None
    assert opened.headers.total.parameters == 128_000 + 384 + 49_152 + 98_304
    assert opened.notes == ()


LINEARS = {name: "F8_E4M3" for name in SHAPES if "_proj" in name}


def test_a_gap_is_refused_with_both_sizes(safetensors: Pack) -> None:
    files = places(safetensors, LINEARS, **{"config.json": config()})
    with pytest.raises(UnreadableError, match=r"headers list 404224 bytes, the architecture implies 551680"):
        open_source("model", None, files)


def test_trusted_headers_give_the_formats(safetensors: Pack) -> None:
    files = places(safetensors, LINEARS, **{"config.json": config()})
    opened = open_source("model", "headers", files)
    assert opened.arch.scheme is not None
    form = format_of(opened.arch.scheme, f"{LAYER}mlp.up_proj")
    assert form is not None
    assert form.bits == 8
    assert len(opened.notes) == 1
    assert "formats taken from the headers" in opened.notes[0]


def test_a_trusted_configuration_stays(safetensors: Pack) -> None:
    files = places(safetensors, LINEARS, **{"config.json": config()})
    opened = open_source("model", "config", files)
    assert opened.arch.scheme is None
    assert "the configuration trusted" in opened.notes[0]


def test_a_gap_that_formats_do_not_explain_is_still_said(safetensors: Pack) -> None:
    files = places(safetensors, {}, **{"config.json": config(num_hidden_layers=4)})
    opened = open_source("model", "headers", files)
    assert len(opened.notes) == 2
    assert opened.notes[1].startswith("even so headers list")


def test_tensors_without_configuration_are_refused(safetensors: Pack) -> None:
    with pytest.raises(UnreadableError, match=r"config\.json"):
        open_source("model", None, places(safetensors, {}))


def test_unknown_places(safetensors: Pack) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        open_source("nowhere", None, places(safetensors))


def gguf_file(gguf: Pack) -> bytes:
    """A GGUF model of one layer in 4.5 bits, its output tied."""
    text, number = 8, 4
    keys = [
        ("general.architecture", text, "llama"),
        ("llama.block_count", number, 1),
        ("llama.context_length", number, 512),
        ("llama.embedding_length", number, 256),
        ("llama.attention.head_count", number, 4),
        ("llama.attention.head_count_kv", number, 2),
    ]
    q4_0 = 2
    axes = {
        "token_embd": (256, 1000),
        "blk.0.attn_q": (256, 256),
        "blk.0.attn_k": (256, 128),
        "blk.0.attn_v": (256, 128),
        "blk.0.attn_output": (256, 256),
        "blk.0.ffn_gate": (256, 512),
        "blk.0.ffn_up": (256, 512),
        "blk.0.ffn_down": (512, 256),
    }
    tensors = [(f"{name}.weight", shape, q4_0, shape[0] * shape[1] // 32 * 18) for name, shape in axes.items()]
    return gguf(keys, tensors)


def test_a_gguf_file_is_sized_by_its_types(gguf: Pack) -> None:
    from tonnage.layout.parts import gather_parts
    from tonnage.plan.stored import stored_size

    store = FakeStore({"small.gguf": gguf_file(gguf)}, origin="folder")
    opened = open_source("folder/small.gguf", None, FakePlaces({"folder/small.gguf": Place(store, "small.gguf")}))
    # 256,000 + 65,536 x 2 + 32,768 x 2 + 131,072 x 3 values, 18 bytes for 32
    assert header_bytes(opened) == (256_000 + 131_072 + 65_536 + 393_216) // 32 * 18
    assert stored_size(gather_parts(opened.arch)) == header_bytes(opened)
