"""Weights packed into stored elements. The matrix is always 128 outputs x 256 inputs = 32,768 weights."""

from __future__ import annotations

import pytest

from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.packing import count_values, is_packed

WEIGHTS = 128 * 256


def entry(name: str, dtype: str, *shape: int) -> TensorEntry:
    return TensorEntry(name, dtype, shape, 0)  # bytes do not matter here


CASES = {
    "NVFP4 of ModelOpt": [
        entry("q.weight", "U8", 128, 128),
        entry("q.weight_scale", "F8_E4M3", 128, 16),
        entry("q.weight_scale_2", "F32"),
    ],
    "NVFP4 of compressed-tensors": [
        entry("q.weight_packed", "U8", 128, 128),
        entry("q.weight_scale", "F8_E4M3", 128, 16),
        entry("q.weight_global_scale", "F32", 1),
    ],
    "MXFP4 of gpt-oss": [entry("e.up_blocks", "U8", 1, 128, 8, 16), entry("e.up_scales", "U8", 1, 128, 8)],
    "MXFP4 of Quark": [entry("q.weight", "U8", 128, 128), entry("q.weight_scale", "U8", 128, 8)],
    "FP4 of DeepSeek V4": [entry("q.weight", "I8", 128, 128), entry("q.scale", "F8_E8M0", 128, 8)],
    "merged experts in FP4": [entry("e.up_proj", "U8", 1, 128, 128), entry("e.up_proj_scale", "F8_E4M3", 1, 128, 16)],
    "NF4 of bitsandbytes": [entry("q.weight", "U8", 16384, 1), entry("q.weight.absmax", "U8", 512)],
    "GPTQ with permutation": [
        entry("q.qweight", "I32", 32, 128),
        entry("q.scales", "F16", 2, 128),
        entry("q.g_idx", "I32", 256),
    ],
    "GPTQ in 3 bits": [entry("q.qweight", "I32", 24, 128), entry("q.g_idx", "I32", 256)],
    "AWQ": [entry("q.qweight", "I32", 256, 16), entry("q.scales", "F16", 2, 128)],
}


@pytest.mark.parametrize("case", CASES)
def test_packed_weights_are_counted_as_weights(case: str) -> None:
    known = {each.name: each for each in CASES[case]}
    weight = CASES[case][0]
    assert is_packed(weight, known)
    assert count_values(weight, known) == WEIGHTS


@pytest.mark.parametrize(
    "entries",
    [
        [entry("q.weight", "BF16", 128, 256)],
        [entry("q.weight", "F8_E4M3", 128, 256), entry("q.weight_scale", "F32", 1, 2)],
        [entry("q.weight", "F4", 128, 256), entry("q.weight_scale", "F8_E4M3", 128, 16)],
        [entry("q.weight", "I8", 128, 256), entry("q.weight_scale", "BF16", 128, 1)],
        [entry("q.weight", "I8", 128, 256), entry("q.weight_scale", "F32", 128)],
        [entry("q.weight", "I8", 128, 256), entry("q.SCB", "F32", 128)],
        [entry("q.weight", "Q4_K", 128, 256)],
    ],
)
def test_whole_elements_are_not_packed(entries: list[TensorEntry]) -> None:
    known = {each.name: each for each in entries}
    assert not is_packed(entries[0], known)
    assert count_values(entries[0], known) == WEIGHTS


def test_words_of_unknown_width_have_no_count() -> None:
    # Kimi-K2-Thinking: 32-bit words and scales per group; only the configuration says 4 bits.
    packed = entry("q.weight_packed", "I32", 128, 32)
    known = {"q.weight_packed": packed, "q.weight_scale": entry("q.weight_scale", "BF16", 128, 8)}
    assert is_packed(packed, known)
    assert count_values(packed, known) is None
    assert count_values(packed, known, packed_bits=4) == WEIGHTS  # 128 x 32 words x 8


def test_gptq_without_permutation_needs_the_width() -> None:
    weight = entry("q.qweight", "I32", 32, 128)
    known = {weight.name: weight, "q.scales": entry("q.scales", "F16", 2, 128)}
    assert count_values(weight, known) is None
    assert count_values(weight, known, packed_bits=4) == WEIGHTS


def test_an_integer_table_is_no_packed_weight() -> None:
    assert not is_packed(entry("gate.tid2eid", "I32", 1000, 6), {})
