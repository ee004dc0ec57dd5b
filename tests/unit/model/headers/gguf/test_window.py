"""Windowed layers, as llama.cpp's loaders set them."""

from __future__ import annotations

import pytest

from tonnage.model.headers.gguf.facts import Facts
from tonnage.model.headers.gguf.window import Pattern, is_chunked, read_window


def windows(arch: str, layers: int, **keys: object) -> list[int | None]:
    metadata = {f"{arch}.attention.{key}": value for key, value in keys.items()}
    return [read_window(Facts(arch, metadata), layer) for layer in range(layers)]  # type: ignore[arg-type]


def test_a_period_ends_or_starts_with_a_full_layer() -> None:
    assert [Pattern(3).is_windowed(layer) for layer in range(6)] == [True, True, False] * 2
    assert [Pattern(3, is_full_first=True).is_windowed(layer) for layer in range(6)] == [False, True, True] * 2
    assert not Pattern(1).is_windowed(0)
    assert Pattern(0).is_windowed(7)


@pytest.mark.parametrize(
    ("arch", "expected"),
    [
        ("gemma3", [9, 9, 9, 9, 9, None, 9, 9]),
        ("gemma2", [9, None, 9, None]),
        ("gpt-oss", [9, None, 9, None]),
        ("cohere2", [9, 9, 9, None]),
        ("smallthinker", [None, 9, 9, 9, None]),
        ("laguna", [None, 9, 9, 9, None]),
        ("llama", [None, None]),  # a window without a pattern is ignored
        ("phi3", [None, None]),
    ],
)
def test_patterns_that_files_leave_out(arch: str, expected: list[int | None]) -> None:
    assert windows(arch, len(expected), sliding_window=9) == expected


def test_flags_of_the_file_decide() -> None:
    assert windows("gemma4", 3, sliding_window=9, sliding_window_pattern=(True, False, True)) == [9, None, 9]
    assert windows("gemma3", 3, sliding_window=9, sliding_window_pattern=(1, 0)) == [9, None, None]


def test_a_period_of_the_file_replaces_the_known_one() -> None:
    assert windows("gemma3", 4, sliding_window=9, sliding_window_pattern=2) == [9, None, 9, None]
    assert windows("laguna", 4, sliding_window=9, sliding_window_pattern=2) == [None, 9, None, 9]
    assert windows("new", 4, sliding_window=9, sliding_window_pattern=2) == [9, None, 9, None]


def test_no_size_or_size_zero_is_no_window() -> None:
    assert windows("gemma3", 2) == [None, None]
    assert windows("llama4", 2, sliding_window=0) == [None, None]


def test_sizes_that_files_leave_out() -> None:
    assert windows("gemma2", 2) == [4096, None]
    assert windows("llama4", 5) == [8192, 8192, 8192, None, 8192]
    assert is_chunked(Facts("llama4", {}))
    assert not is_chunked(Facts("gemma2", {}))
