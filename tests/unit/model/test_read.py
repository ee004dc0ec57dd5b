"""Reading a model from where its files lie."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tonnage.errors import TonnageError, UnreadableError
from tonnage.model.headers.entry import TensorEntry
from tonnage.model.read import MAX_CONFIG_BYTES, Source, read_source
from tonnage.seams.fakes import FakePlaces, FakeStore
from tonnage.seams.store import Place

Build = Callable[..., bytes]
ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"
CONFIG = b'{"model_type": "llama", "hidden_size": 8}'


def read(files: dict[str, bytes], name: str | None = None, sizes: dict[str, int] | None = None) -> Source:
    """The source in a store of `files`, or in its file `name`."""
    return read_source("m", FakePlaces({"m": Place(FakeStore(files, sizes=sizes or {}), name)}))


def index(**weight_map: str) -> bytes:
    return json.dumps({"metadata": {"total_size": 8}, "weight_map": weight_map}).encode()


@pytest.fixture(scope="module")
def shard(safetensors: Build) -> Callable[..., bytes]:
    """A file with one float of four bytes per name."""

    def build(*names: str) -> bytes:
        rows = {
            name: {"dtype": "F32", "shape": [1], "data_offsets": [4 * at, 4 * at + 4]} for at, name in enumerate(names)
        }
        return safetensors(rows, bytes(4 * len(names)))

    return build


def entry(name: str) -> TensorEntry:
    return TensorEntry(name, "F32", (1,), 4)


def test_a_configuration_alone() -> None:
    source = read({"config.json": CONFIG})
    assert source == Source({"model_type": "llama", "hidden_size": 8}, None, None, None, "fake")


def test_a_configuration_file_by_any_name() -> None:
    assert read({"other.json": CONFIG, "hf_quant_config.json": b"{"}, "other.json").config is not None


def test_a_configuration_file_and_the_quantisation_beside_it(shard: Build) -> None:
    files = {"config.json": CONFIG, "hf_quant_config.json": b'{"producer": {}}', "model.safetensors": shard("a")}
    source = read(files, "config.json")
    assert source.quant_config == {"producer": {}}
    assert source.entries is None  # the file was asked for, not the folder
    assert source.origin == "fake/config.json"


def test_a_single_file_without_index(shard: Build) -> None:
    source = read({"config.json": CONFIG, "model.safetensors": shard("a", "b")})
    assert source.entries == (entry("a"), entry("b"))
    assert source.quant_config is None


def test_shards_with_index(shard: Build) -> None:
    files = {INDEX: index(a=ONE, b=TWO), ONE: shard("a"), TWO: shard("b"), "stray.safetensors": shard("c")}
    source = read(files)
    assert source.entries == (entry("a"), entry("b"))
    assert source.config is None
    assert source.notes == ()


def test_shards_without_index(shard: Build) -> None:
    assert read({ONE: shard("a"), TWO: shard("b")}).entries == (entry("a"), entry("b"))
    with pytest.raises(UnreadableError, match="2 safetensors files without index share tensors"):
        read({ONE: shard("a"), TWO: shard("a")})


def test_a_total_that_the_headers_contradict_is_noted(shard: Build) -> None:
    source = read({INDEX: index(a=ONE), ONE: shard("a")})
    assert source.notes == (f"{INDEX} says 8 bytes, the headers of its files say 4",)


def test_one_safetensors_file(shard: Build) -> None:
    source = read({ONE: shard("a"), TWO: shard("b")}, ONE)
    assert source.entries == (entry("a"),)
    assert source.origin == f"fake/{ONE}"


def test_a_gguf_file(gguf: Build) -> None:
    data = gguf([("general.architecture", 8, "llama")], [("a", (8,), 0, 32)])
    for source in (read({"m.gguf": data}, "m.gguf"), read({"m.gguf": data, "mmproj-m.gguf": b"?"})):
        assert source.entries == (TensorEntry("a", "F32", (8,), 32),)
        assert source.gguf_metadata == {"general.architecture": "llama"}


def test_a_split_gguf_model_by_any_of_its_parts(gguf: Build) -> None:
    names = [f"m-0000{number}-of-00002.gguf" for number in (1, 2)]
    files = {
        name: gguf([("split.no", 2, number), ("split.count", 2, 2)], [(f"t{number}", (8,), 0, 32)])
        for number, name in enumerate(names)
    }
    for source in (read(files), read(files, names[0]), read(files, names[1])):
        assert [each.name for each in source.entries or ()] == ["t0", "t1"]
        assert source.gguf_metadata == {"split.no": 0, "split.count": 2}
    with pytest.raises(UnreadableError, match=r"1 of 2 parts missing, first m-00002-of-00002\.gguf"):
        read({names[0]: files[names[0]]})


def test_several_gguf_models_must_be_told_apart(gguf: Build) -> None:
    with pytest.raises(UnreadableError, match=r"2 GGUF models: one of them by its name: a\.gguf, b\.gguf"):
        read({"a.gguf": gguf(), "b.gguf": gguf()})


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({}, None, "no model files"),
        ({"README.md": b""}, None, "no model files"),
        ({"README.md": b""}, "README.md", "not a model file"),
        ({"config.json": b"[]"}, None, r"config\.json: top level is list"),
        ({"config.json": CONFIG, "hf_quant_config.json": b"\xff"}, None, r"hf_quant_config\.json: byte 0 is not UTF-8"),
        ({INDEX: b"{}"}, None, "weight_map"),
        ({INDEX: b'{"weight_map": {"a": "../x.safetensors"}}'}, None, "weight_map"),
        ({INDEX: b'{"weight_map": {"a": "x.safetensors"}}'}, None, r"1 of 1 files missing, first 'x\.safetensors'"),
        ({"model.safetensors": b""}, None, r"model\.safetensors: 0 bytes"),
        ({"m.gguf": b""}, None, r"m\.gguf: starts with b''"),
    ],
)
def test_what_cannot_be_read_ends_in_one_line(files: dict[str, bytes], name: str | None, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        read(files, name)
    assert "\n" not in caught.value.line


def test_a_configuration_that_is_too_large_is_not_read() -> None:
    store = FakeStore({"config.json": CONFIG}, sizes={"config.json": MAX_CONFIG_BYTES + 1})
    with pytest.raises(UnreadableError, match=f"{MAX_CONFIG_BYTES + 1} bytes: at most"):
        read_source("m", FakePlaces({"m": Place(store)}))
    assert store.reads == []


def test_a_store_that_gives_less_than_it_told() -> None:
    with pytest.raises(UnreadableError, match="41 bytes read at 0: 42 bytes"):
        read({"config.json": CONFIG}, sizes={"config.json": len(CONFIG) + 1})


def test_real_folders_and_files(tmp_path: Path, shard: Build) -> None:
    (tmp_path / "config.json").write_bytes(CONFIG)
    (tmp_path / "model.safetensors").write_bytes(shard("a"))
    source = read_source(str(tmp_path))
    assert source.entries == (entry("a"),)
    assert source.origin == str(tmp_path)
    assert read_source(str(tmp_path / "config.json")).config == source.config
    with pytest.raises(TonnageError, match="No such file"):
        read_source(str(tmp_path / "nothing"))


def test_published_configurations_are_read(shared: Path) -> None:
    paths = sorted((shared / "models").glob("*.json"))
    assert paths
    for path in paths:
        assert read_source(str(path)).config, path.name
