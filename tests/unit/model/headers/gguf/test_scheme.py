"""The types of a GGUF file as rules over an architecture's names."""

from __future__ import annotations

import pytest

from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.gguf.scheme import PLACES, gguf_scheme
from tonnage.model.quantization.formats import stored_bytes
from tonnage.model.quantization.match import format_of


def entry(name: str, dtype: str, shape: tuple[int, ...] = (256, 256), size: int = 0) -> TensorEntry:
    """A stored tensor."""
    return TensorEntry(f"{name}.weight", dtype, shape, size)


FILE = [
    entry("token_embd", "Q4_K"),
    entry("output", "Q6_K"),
    entry("output_norm", "F32", (256,)),
    entry("per_layer_token_embd", "Q5_K"),
    *(entry(f"blk.{layer}.attn_q", "Q4_K") for layer in range(4)),
    *(entry(f"blk.{layer}.attn_v", "Q6_K" if layer < 2 else "Q4_K") for layer in range(4)),
    *(entry(f"blk.{layer}.ffn_up", "Q4_0") for layer in range(4)),
    *(entry(f"blk.{layer}.ffn_down_exps", "Q8_0", (8, 256, 256)) for layer in range(4)),
    *(entry(f"blk.{layer}.ffn_gate_inp", "F32") for layer in range(4)),
    entry("blk.0.attn_output", "F16"),
    entry("blk.1.attn_qkv", "Q5_0"),
    entry("blk.2.ffn_up.0", "Q5_1"),
    entry("blk.3.some_extra", "Q8_0"),
    # rows of this type carry more than their blocks: 256 x 256 elements in 36,864 + 1,024 bytes are 4.625 bits each
    entry("blk.3.attn_k", "IQ4_KS", (256, 256), 37_888),
]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("model.embed_tokens", "ggml-q4_k"),
        ("lm_head", "ggml-q6_k"),
        ("per_layer_token_embd", "ggml-q5_k"),
        ("model.layers.0.self_attn.q_proj", "ggml-q4_k"),
        ("model.layers.1.self_attn.v_proj", "ggml-q6_k"),
        ("model.layers.3.self_attn.v_proj", "ggml-q4_k"),
        ("model.layers.0.mlp.up_proj", "ggml-q4_0"),
        ("model.layers.0.mlp.gate_proj", "ggml-q4_0"),
        ("model.layers.0.mlp.experts.down_proj", "ggml-q8_0"),
        ("model.layers.0.self_attn.o_proj", None),
        ("model.layers.2.mlp.experts.up_proj", "ggml-q5_1"),
        ("model.layers.1.self_attn.k_proj", "ggml-q5_0"),
        ("model.layers.1.linear_attn.in_proj_qkv", "ggml-q5_0"),
        ("model.layers.3.some_extra", "ggml-q8_0"),
        ("model.layers.3.self_attn.k_proj", "ggml-iq4_ks"),
        ("model.layers.9.self_attn.q_proj", None),
    ],
)
def test_places(name: str, form: str | None) -> None:
    found = format_of(gguf_scheme(FILE), name)
    assert (found.name if found else None) == form


def test_types_with_data_in_front_of_rows_have_the_size_the_file_gives() -> None:
    found = format_of(gguf_scheme(FILE), "model.layers.3.self_attn.k_proj")
    assert found is not None
    # 148 bytes a row: 256 x 4 bits and 20 bytes more
    assert stored_bytes(found, 256, 256) == 37_888


def test_a_file_in_half_floats_has_no_formats() -> None:
    scheme = gguf_scheme([entry("blk.0.attn_q", "F16"), entry("token_embd", "BF16")])
    assert [rule.format for rule in scheme.rules] == [None]
    assert gguf_scheme([]).rules == scheme.rules


def test_no_place_is_named_twice_for_one_kind_of_layer() -> None:
    places = [place for names in PLACES.values() for place in names]
    # the key and value halves of a latent projection, Phi's fused gate
    assert sorted({place for place in places if places.count(place) > 1}) == ["mlp.gate_proj", "self_attn.kv_b_proj"]
