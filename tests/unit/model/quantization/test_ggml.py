"""llama.cpp's types as formats, and its file types as schemes."""

from __future__ import annotations

import pytest

from tonnage.model.headers.gguf.dtype import list_types
from tonnage.model.quantization.formats import stored_bytes
from tonnage.model.quantization.ggml import Mix, find_ggml, ggml_format, ggml_scheme, has_more_bits
from tonnage.model.quantization.match import format_of


@pytest.mark.parametrize(
    ("name", "block", "size", "bits", "scale"),
    [
        ("Q4_0", 32, 18, 4, 2),  # 32 x 4 / 8 = 16, and a 16-bit scale
        ("Q8_0", 32, 34, 8, 2),
        ("Q4_K", 256, 144, 4, 16),  # 128 + 16
        ("Q6_K", 256, 210, 6, 18),  # 192 + 18
        ("IQ1_S", 256, 50, 1, 18),  # 32 + 18
        ("F32", 1, 4, 32, 0),
        ("MXFP4", 32, 17, 4, 1),
    ],
)
def test_bits_and_the_rest_as_scale(name: str, block: int, size: int, bits: int, scale: int) -> None:
    form = ggml_format(name, block, size)
    assert (form.bits, form.scale_bytes) == (bits, scale)
    assert form.name == f"ggml-{name.lower()}"


@pytest.mark.parametrize("kind", list_types(), ids=lambda kind: kind.name)
def test_matrices_take_what_their_blocks_take(kind: object) -> None:
    block, size, name = kind.block, kind.size, kind.name  # type: ignore[attr-defined]
    cols = 16 * block
    assert stored_bytes(ggml_format(name, block, size), 8, cols) == 8 * 16 * size


@pytest.mark.parametrize(
    ("label", "mix"),
    [
        ("q4_0", Mix("Q4_0", "Q4_0")),
        ("gguf-q4_0", Mix("Q4_0", "Q4_0")),
        ("gguf-iq1_s", Mix("IQ1_S", "IQ1_S", "Q4_K", None, "IQ2_XXS", "Q5_K")),
        ("Q2_K", Mix("Q2_K", "Q2_K", "Q4_K", "Q3_K", "Q3_K")),
        ("UD-Q2_K_XL", Mix("Q2_K", "Q2_K", "Q4_K", "Q3_K", "Q3_K")),
        ("UD-Q4_K_XL", Mix("Q4_K", "Q6_K")),
        ("UD-IQ4_XS", Mix("IQ4_XS", "IQ4_XS", "Q5_K")),
        ("UD-Q8_K_XL", Mix("Q8_0", "Q8_0")),
        ("Q4_K_M", Mix("Q4_K", "Q6_K")),
        ("gguf-q5_k_m", Mix("Q5_K", "Q6_K")),
    ],
)
def test_labels(label: str, mix: Mix) -> None:
    assert find_ggml(label) == mix


@pytest.mark.parametrize("label", ["fp8", "gguf", "", "f16", "bf16", "q9_0", "int4"])
def test_other_labels_are_none(label: str) -> None:
    assert find_ggml(label) is None
    assert ggml_scheme(label, 32) is None


def test_more_bits_at_both_ends_and_every_third_between() -> None:
    # 32 layers: edge 4; from 28 on; 4 + 2, 4 + 5 ... between
    better = [layer for layer in range(32) if has_more_bits(layer, 32)]
    assert better == [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("model.layers.0.mlp.down_proj", "ggml-q6_k"),
        ("model.layers.4.mlp.down_proj", "ggml-q4_k"),
        ("model.layers.0.self_attn.v_proj", "ggml-q6_k"),
        ("model.layers.0.self_attn.q_proj", "ggml-q4_k"),
        ("lm_head", "ggml-q6_k"),
        ("model.embed_tokens", "ggml-q4_k"),
        ("model.layers.0.mlp.gate", None),
    ],
)
def test_the_mix_of_q4_k_m(name: str, form: str | None) -> None:
    scheme = ggml_scheme("q4_k_m", 32)
    assert scheme is not None
    found = format_of(scheme, name)
    assert (found.name if found else None) == form


def test_eight_bits_keep_their_output_matrix() -> None:
    scheme = ggml_scheme("q8_0", 2)
    assert scheme is not None
    found = format_of(scheme, "lm_head")
    assert found is not None
    assert found.name == "ggml-q8_0"


@pytest.mark.parametrize(
    ("label", "name", "form"),
    [
        ("q2_k", "model.layers.3.self_attn.v_proj", "ggml-q4_k"),
        ("q2_k", "model.layers.3.self_attn.o_proj", "ggml-q3_k"),
        ("q2_k", "model.layers.3.mlp.experts.down_proj", "ggml-q3_k"),
        ("q2_k", "model.layers.3.mlp.experts.up_proj", "ggml-q2_k"),
        ("q3_k_l", "model.layers.3.mlp.down_proj", "ggml-q5_k"),
        ("iq4_xs", "model.layers.3.self_attn.v_proj", "ggml-q5_k"),
        ("iq2_xs", "lm_head", "ggml-q5_k"),
        ("iq4_xs", "lm_head", "ggml-q6_k"),
    ],
)
def test_parts_that_small_types_raise(label: str, name: str, form: str) -> None:
    scheme = ggml_scheme(label, 32)
    assert scheme is not None
    found = format_of(scheme, name)
    assert found is not None
    assert found.name == form
