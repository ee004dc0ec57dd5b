"""Totals of a checkpoint."""

from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.summary import Total, summarise

# One embedding 1000 x 64 BF16, one NVFP4 matrix 128 x 64, its scales, one norm.
NVFP4 = (
    TensorEntry("model.embed_tokens.weight", "BF16", (1000, 64), 128_000),
    TensorEntry("model.layers.0.self_attn.q_proj.weight", "U8", (128, 32), 4096),
    TensorEntry("model.layers.0.self_attn.q_proj.weight_scale", "F8_E4M3", (128, 4), 512),
    TensorEntry("model.layers.0.self_attn.q_proj.weight_scale_2", "F32", (), 4),
    TensorEntry("model.layers.0.input_layernorm.weight", "BF16", (64,), 128),
)


def test_packed_weights_are_neither_elements_nor_half_of_their_bytes() -> None:
    summary = summarise(NVFP4)
    # 64,000 embedding + 128 x 64 = 8,192 packed + 64 norm; as stored elements it would be 68,676, as bytes / 2 66,370
    assert summary.total == Total(5, 132_740, 4096, 72_256)


def test_parts_and_types_add_up_to_the_total() -> None:
    summary = summarise(NVFP4)
    assert summary.by_part == {
        "attention": Total(1, 4096, 4096, 8192),
        "embedding": Total(1, 128_000, 0, 64_000),
        "norms": Total(1, 128, 0, 64),
        "scales": Total(2, 516, 0, 0),
    }
    assert summary.by_dtype == {
        "BF16": Total(2, 128_128, 0, 64_064),
        "F32": Total(1, 4, 0, 0),
        "F8_E4M3": Total(1, 512, 0, 0),
        "U8": Total(1, 4096, 4096, 8192),
    }


def test_an_unknown_width_makes_the_sums_it_is_in_unknown() -> None:
    entries = (
        TensorEntry("model.layers.0.mlp.experts.0.up_proj.weight_packed", "I32", (16, 8), 512),
        TensorEntry("model.layers.0.mlp.experts.0.up_proj.weight_scale", "BF16", (16, 2), 64),
        TensorEntry("lm_head.weight", "BF16", (10, 64), 1280),
    )
    summary = summarise(entries)
    assert summary.total == Total(3, 1856, 512, None)
    assert summary.by_part["head"].parameters == 640
    assert summary.by_part["experts"].parameters is None
    assert summarise(entries, packed_bits=4).total.parameters == 16 * 64 + 640


def test_draft_layers_stand_apart() -> None:
    entries = (
        TensorEntry("model.layers.0.mlp.up_proj.weight", "BF16", (4, 4), 32),
        TensorEntry("model.layers.1.eh_proj.weight", "BF16", (4, 8), 64),
        TensorEntry("model.layers.1.mlp.up_proj.weight", "BF16", (4, 4), 32),
    )
    assert summarise(entries).by_part == {"draft": Total(2, 96, 0, 48), "mlp": Total(1, 32, 0, 16)}


def test_nothing_is_zero() -> None:
    assert summarise(()).total == Total(0, 0, 0, 0)
