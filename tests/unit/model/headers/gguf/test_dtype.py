"""Block sizes of ggml."""

import pytest

from tonnage.model.headers.gguf.dtype import find_type

K = 256  # elements of a super-block


@pytest.mark.parametrize(
    ("number", "name", "block", "size"),
    [
        (0, "F32", 1, 4),
        (30, "BF16", 1, 2),
        (2, "Q4_0", 32, 2 + 32 // 2),  # one half scale, 4 bits each
        (3, "Q4_1", 32, 2 + 2 + 32 // 2),  # scale and minimum
        (6, "Q5_0", 32, 2 + 4 + 32 // 2),  # the fifth bits are 32 bits
        (7, "Q5_1", 32, 2 + 2 + 4 + 32 // 2),
        (8, "Q8_0", 32, 2 + 32),
        (9, "Q8_1", 32, 2 + 2 + 32),
        (10, "Q2_K", K, 2 + 2 + K // 16 + K // 4),
        (11, "Q3_K", K, 2 + K // 4 + K // 8 + 12),
        (12, "Q4_K", K, 2 + 2 + 12 + K // 2),
        (13, "Q5_K", K, 2 + 2 + 12 + K // 2 + K // 8),
        (14, "Q6_K", K, 2 + K // 2 + K // 4 + K // 16),
        (15, "Q8_K", K, 4 + K + K // 16 * 2),
        (16, "IQ2_XXS", K, 2 + K // 4),
        (17, "IQ2_XS", K, 2 + K // 4 + K // 32),
        (18, "IQ3_XXS", K, 2 + K // 4 + K // 8),
        (19, "IQ1_S", K, 2 + K // 8 + K // 16),
        (20, "IQ4_NL", 32, 2 + 32 // 2),
        (21, "IQ3_S", K, 2 + K // 4 + K // 8 + K // 32 + 4),
        (22, "IQ2_S", K, 2 + K // 4 + K // 16),
        (23, "IQ4_XS", K, 2 + 2 + K // 64 + K // 2),
        (29, "IQ1_M", K, K // 8 + K // 16 + K // 32),
        (34, "TQ1_0", K, 2 + 52),  # 48 bytes hold 5 ternary digits each, 4 bytes hold 4
        (35, "TQ2_0", K, 2 + K // 4),
        (39, "MXFP4", 32, 1 + 32 // 2),
        (40, "NVFP4", 64, 4 + 64 // 2),
        (41, "Q1_0", 128, 2 + 128 // 8),
        (42, "Q2_0", 64, 2 + 64 // 4),
    ],
)
def test_mainline_types(number: int, name: str, block: int, size: int) -> None:
    ggml = find_type(number)
    assert ggml is not None
    assert (ggml.name, ggml.block, ggml.size, ggml.has_row_data) == (name, block, size, False)


def test_types_of_the_fork_may_carry_more_per_row() -> None:
    ggml = find_type(144)
    assert ggml is not None
    assert (ggml.name, ggml.block, ggml.size, ggml.has_row_data) == ("IQ4_KS", 256, 136, True)


@pytest.mark.parametrize("number", [4, 5, 31, 32, 33, 36, 38, 43, 1000, 2**32 - 1])
def test_removed_and_unknown_types_are_none(number: int) -> None:
    assert find_type(number) is None
