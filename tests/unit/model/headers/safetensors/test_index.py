"""The index over several safetensors files."""

from __future__ import annotations

import json

import pytest

from tonnage.errors import UnreadableError
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.headers.safetensors.index import Index, check_present, parse_index, select

FILE = "model.safetensors.index.json"
ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


def entry(name: str, stored_bytes: int = 4) -> TensorEntry:
    return TensorEntry(name, "F32", (stored_bytes // 4,), stored_bytes)


def parse(document: object) -> Index:
    return parse_index(json.dumps(document).encode(), FILE)


def test_shards_are_listed_once_in_order() -> None:
    index = parse({"metadata": {"total_size": 12}, "weight_map": {"b": TWO, "a": ONE, "c": TWO}})
    assert index.shards == (ONE, TWO)
    assert index.total_bytes == 12
    assert index.weight_map == {"b": TWO, "a": ONE, "c": TWO}


@pytest.mark.parametrize(("metadata", "total"), [(None, None), ({}, None), ({"total_size": 8.0}, 8), ("x", None)])
def test_the_total_may_be_missing(metadata: object, total: int | None) -> None:
    assert parse({"metadata": metadata, "weight_map": {"a": ONE}}).total_bytes == total


@pytest.mark.parametrize("total", [-1, 1.5, "12", True, [1]])
def test_a_total_that_is_no_size_is_refused(total: object) -> None:
    with pytest.raises(UnreadableError, match="total_size"):
        parse({"metadata": {"total_size": total}, "weight_map": {"a": ONE}})


@pytest.mark.parametrize(
    "shard",
    [
        "../other/model.safetensors",
        "/etc/model.safetensors",
        "sub/model.safetensors",
        "..\\model.safetensors",
        "C:model.safetensors",
        "m\0.safetensors",
        "..",
        "model.bin",
        7,
        None,
    ],
)
def test_names_that_leave_the_folder_are_refused(shard: object) -> None:
    with pytest.raises(UnreadableError, match=r"weight_map: .*names of \.safetensors files in the same folder"):
        parse({"weight_map": {"a": shard}})


@pytest.mark.parametrize("document", [{}, {"weight_map": {}}, {"weight_map": [ONE]}, {"weight_map": None}])
def test_an_index_without_map_is_refused(document: object) -> None:
    with pytest.raises(UnreadableError, match=r"weight_map: .*an object from tensor to file name"):
        parse(document)


def test_missing_shards_are_named() -> None:
    index = parse({"weight_map": {"a": ONE, "b": TWO}})
    check_present(index, (ONE, TWO, "config.json"))
    with pytest.raises(UnreadableError, match=f"1 of 2 files missing, first '{TWO}'"):
        check_present(index, (ONE,))


def test_a_tensor_in_two_files_counts_where_the_index_points() -> None:
    index = parse({"weight_map": {"a": ONE, "b": TWO}})
    shards = {ONE: (entry("a"), entry("b", 8)), TWO: (entry("b"), entry("unlisted"))}
    # "unlisted" is in no map, but the engines load every tensor of a listed file
    assert select(index, shards) == (entry("a"), entry("b"), entry("unlisted"))


def test_a_tensor_that_its_file_lacks_is_refused() -> None:
    index = parse({"weight_map": {"a": ONE, "b": ONE}})
    with pytest.raises(UnreadableError, match=f"no tensor 'b' in '{ONE}'"):
        select(index, {ONE: (entry("a"),)})
