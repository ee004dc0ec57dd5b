"""Results kept for the next call."""

from __future__ import annotations

import pytest

from tonnage.kept import kept


def test_a_result_is_worked_out_once() -> None:
    calls: list[tuple[int, int]] = []

    @kept(8)
    def add(one: int, other: int = 0) -> int:
        calls.append((one, other))
        return one + other

    assert [add(1, 2), add(1, 2), add(2, 1), add(1)] == [3, 3, 3, 1]
    assert calls == [(1, 2), (2, 1), (1, 0)]


def test_none_is_a_result() -> None:
    calls: list[int] = []

    @kept(8)
    def look(number: int) -> None:
        calls.append(number)

    look(1)
    look(1)
    assert calls == [1]


def test_errors_are_not_kept() -> None:
    calls: list[int] = []

    @kept(8)
    def fail(number: int) -> int:
        calls.append(number)
        raise ValueError(number)

    for _ in range(2):
        with pytest.raises(ValueError, match="1"):
            fail(1)
    assert calls == [1, 1]


def test_a_full_table_starts_anew() -> None:
    calls: list[int] = []

    @kept(2)
    def double(number: int) -> int:
        calls.append(number)
        return 2 * number

    assert [double(n) for n in (1, 2, 1, 3, 1)] == [2, 4, 2, 6, 2]
    assert calls == [1, 2, 3, 1]


def test_it_looks_like_the_function() -> None:
    @kept(1)
    def named() -> int:
        """What it does."""
        return 1

    assert (named.__name__, named.__doc__) == ("named", "What it does.")


def test_arguments_must_be_hashable() -> None:
    @kept(1)
    def size(items: list[int]) -> int:
        return len(items)

    with pytest.raises(TypeError, match="unhashable"):
        size([])
