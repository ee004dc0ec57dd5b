"""GGUF models in several files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.blob import Blob
from tonnage.model.headers.gguf.header import GgufHeader, read_header
from tonnage.model.headers.gguf.split import join_splits, split_names

Build = Callable[..., bytes]
NAMES = ("m-00001-of-00002.gguf", "m-00002-of-00002.gguf")


def part(gguf: Build, number: object, count: object, names: tuple[str, ...], total: int = 2) -> GgufHeader:
    keys = [("split.no", 2, number), ("split.count", 2, count), ("split.tensors.count", 5, total)]
    data = gguf(keys, [(name, (8,), 0, 32) for name in names])
    return read_header(Blob("m", len(data), lambda start, size: data[start : start + size]))


def test_names_of_all_parts() -> None:
    assert split_names("m-00002-of-00003.gguf") == tuple(f"m-0000{i}-of-00003.gguf" for i in (1, 2, 3))
    assert split_names("sub/m-00001-of-00001.gguf") == ("sub/m-00001-of-00001.gguf",)


@pytest.mark.parametrize("name", ["m.gguf", "m-1-of-3.gguf", "m-00001-of-00003.gguf.part", "m-٠٠٠٠١-of-00003.gguf"])
def test_other_names_are_no_parts(name: str) -> None:
    assert split_names(name) == (name,)


@pytest.mark.parametrize("name", ["m-00000-of-00003.gguf", "m-00004-of-00003.gguf", "m-00001-of-00000.gguf"])
def test_impossible_parts_are_refused(name: str) -> None:
    with pytest.raises(UnreadableError, match="a part from 1 to"):
        split_names(name)


def test_parts_are_joined_in_order(gguf: Build) -> None:
    headers = [part(gguf, 0, 2, ("a",)), part(gguf, 1, 2, ("b",))]
    assert [entry.name for entry in join_splits(NAMES, headers)] == ["a", "b"]


def test_a_single_file_needs_no_keys(gguf: Build) -> None:
    data = gguf((), [("a", (8,), 0, 32)])
    header = read_header(Blob("m", len(data), lambda start, size: data[start : start + size]))
    assert [entry.name for entry in join_splits(("m.gguf",), [header])] == ["a"]
    with pytest.raises(UnreadableError, match=r"split\.count: None: 2"):
        join_splits(NAMES, [header, header])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ((0, 3, ("a",)), (1, 3, ("b",)), r"split\.count: 3: 2, as the file's name says"),
        ((1, 2, ("a",)), (0, 2, ("b",)), r"split\.no: 1: 0"),
        ((0, 2, ("a",)), (1, 2, ("a",)), "a tensor in two parts"),
        ((0, 2, ("a",)), (1, 2, ("b", "c")), "3 tensors in 2 files: 2"),
    ],
)
def test_parts_that_do_not_belong_together(
    gguf: Build, first: tuple[int, int, tuple[str, ...]], second: tuple[int, int, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(UnreadableError, match=message):
        join_splits(NAMES, [part(gguf, *first), part(gguf, *second)])


def test_one_part_alone_is_refused(gguf: Build) -> None:
    with pytest.raises(UnreadableError, match=r"split\.count: 2: 1"):
        join_splits(("renamed.gguf",), [part(gguf, 0, 2, ("a",))])
