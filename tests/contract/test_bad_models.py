"""Model folders and files that are broken, lie, or are something else."""

from __future__ import annotations

import json
import os
import struct
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from outcome import ask, refuse, run_bounded
from samples import CONFIG, GGUF_SHAPES, METADATA, folder, framed, gguf, safetensors

CARD = ("--on", "1xRTX4090")
NUMBERS = count()
GOOD = safetensors()


def broken(path: Path | str, *options: str) -> str:
    """The refusal of a model."""
    return refuse("fit", str(path), *CARD, *options)


def tensor(**fields: Any) -> bytes:
    """A safetensors file of one tensor of two bytes, with some fields changed."""
    whole = {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]} | fields
    return framed(json.dumps({"a": whole}).encode(), b"\0\0")


def test_the_samples_are_sound(tmp_path: Path) -> None:
    place = folder(tmp_path / "a", config__json=CONFIG, model__safetensors=GOOD)
    record = ask("fit", place, *CARD, "--json").record
    assert (record["fits"], record["model"]["parameters"]["total"]) == (True, 106_816)
    (tmp_path / "a.gguf").write_bytes(gguf())
    for engine in ("vllm", "sglang", "llamacpp"):
        assert ask("fit", str(tmp_path / "a.gguf"), *CARD, "--engine", engine, "--json").record["fits"] is True


TEXTS: list[bytes | str] = [
    "", "[]", "{}", "null", "{", b"\xff\xfe", b"\0", "[" * 100_000, '{"a":' * 100_000, "9" * 100_000,
    '{"a": 1, "a": 2}', b"\xef\xbb\xbf{}", "NaN",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_documents_that_are_none(text: bytes | str, tmp_path: Path) -> None:
    broken(folder(tmp_path / "config", config__json=text))
    broken(folder(tmp_path / "index", config__json=CONFIG, model__safetensors__index__json=text))


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd", "/etc/passwd", "../x.safetensors", "..\\x.safetensors", "a/b.safetensors", "",
        "x\0.safetensors", "absent.safetensors", "\x1b[31m.safetensors", "\ud800.safetensors", 1, None, [],
        f"{'x' * 100_000}.safetensors",
    ],
)  # fmt: skip
def test_an_index_that_leaves_its_folder(name: object, tmp_path: Path) -> None:
    index = {"weight_map": {"a": name}}
    broken(folder(tmp_path, config__json=CONFIG, model__safetensors__index__json=index))


def test_folders_without_a_model(tmp_path: Path) -> None:
    assert "no model files" in broken(folder(tmp_path / "empty"))
    assert "without config.json" in broken(folder(tmp_path / "bare", model__safetensors=GOOD))
    assert "without config.json" in broken(tmp_path / "bare" / "model.safetensors")
    assert "No such file" in broken(tmp_path / "absent")
    assert "File name too long" in broken(f"/{'a' * 5000}")


def test_what_is_no_file(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors", "a.gguf"):
        for kind, make in (
            ("folder", Path.mkdir),
            ("pipe", os.mkfifo),
            ("loop", lambda path: path.symlink_to(path.name)),
            ("gone", lambda path: path.symlink_to("/nothing/here")),
            ("zero", lambda path: path.symlink_to("/dev/zero")),
            ("memory", lambda path: path.symlink_to("/proc/self/mem")),
        ):
            place = tmp_path / kind
            place.mkdir(exist_ok=True)
            make(place / name)
            broken(place)
            broken(place / name)
    for path in ("/dev/zero", "/dev/null", "/proc/self/mem", "/etc/passwd", "/proc/self/fd"):
        broken(path)


def test_links_in_a_circle(tmp_path: Path) -> None:
    place = folder(tmp_path / "a", config__json=CONFIG)
    (tmp_path / "a" / "again").symlink_to(".")
    assert ask("fit", place + "/again" * 30, *CARD).code == 0
    broken(place + "/again" * 3000)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_without_permission(tmp_path: Path) -> None:
    place = folder(tmp_path / "a", config__json=CONFIG)
    (tmp_path / "a" / "config.json").chmod(0)
    assert "Permission denied" in broken(place)
    (tmp_path / "a").chmod(0)
    assert "Permission denied" in broken(place)
    (tmp_path / "a").chmod(0o700)


@pytest.mark.parametrize("name", ["red\x1b[31m", "line\nbreak", "\udcff", "漢" * 60, "a b", "a'b\"c"])
def test_folders_with_odd_names(name: str, tmp_path: Path) -> None:
    folder(tmp_path / name, config__json=CONFIG)
    assert ask("fit", str(tmp_path / name), *CARD, "--json").code == 0
    assert "\x1b" not in ask("fit", str(tmp_path / name), *CARD, "--explain").out
    assert run_bounded(["fit", str(tmp_path / name), *CARD], PYTHONIOENCODING="utf-8:strict").code == 0
    broken(folder(tmp_path / "broken" / name, config__json="{"))


def test_files_that_only_seem_large(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors", "a.gguf"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(1 << 40)  # a hole, no disk
        assert run_bounded(["fit", str(tmp_path), *CARD]).code == 2
        assert run_bounded(["fit", str(tmp_path / name), *CARD]).code == 2
        (tmp_path / name).unlink()


SAFETENSORS = [
    b"", b"\0", b"\0" * 8, b"\0" * 9, b"\xff" * 100, struct.pack("<Q", 1 << 63), struct.pack("<Q", 100) + b"{}",
    GOOD[:100], GOOD[:-1], GOOD + b"\0", framed(b"[]"), framed(b"null"), framed(b'{"a": 1}'), framed(b"\xff{}"),
    framed(b'{"a":' * 50_000), framed(b'{"a": NaN}'), framed(b'{"__metadata__": 1}'),
    framed(b'{"a": %s}' % (b"9" * 5000)),
    framed(b'{"a":{"dtype":"BF16","shape":' + b"[" * 50_000), tensor(shape=[-1]), tensor(shape=[1.5]),
    tensor(shape="1"),
    tensor(shape=[True]), tensor(shape=[1] * 1000), tensor(shape=[(1 << 63) - 1] * 32), tensor(shape=[10**300]),
    tensor(shape=[1 << 63], data_offsets=[0, 1 << 64]), tensor(data_offsets=[2, 0]), tensor(data_offsets=[0, 2, 3]),
    tensor(data_offsets=[True, 2]), tensor(dtype="XX"), tensor(dtype=1), tensor(dtype="\x1b" * 1000),
    tensor(dtype=None),
]  # fmt: skip


@pytest.mark.parametrize("data", SAFETENSORS, ids=range(len(SAFETENSORS)))
def test_safetensors_that_lie(data: bytes, tmp_path: Path) -> None:
    broken(folder(tmp_path, config__json=CONFIG, model__safetensors=data))


@pytest.mark.parametrize(
    ("extra", "trust", "code"),
    # 106,816 values are implied; 5 % of them are 5,340
    [(5_340, None, 0), (5_342, None, 2), (5_342, "headers", 0), (5_342, "config", 0), (50_000, "headers", 0)],
)
def test_headers_and_configuration_apart(extra: int, trust: str | None, code: int, tmp_path: Path) -> None:
    place = folder(tmp_path, config__json=CONFIG, model__safetensors=safetensors(extra))
    options = ["--trust", trust] if trust else []
    assert ask("fit", place, *CARD, *options, "--json").code == code
    outcome = ask("fit", place, *CARD, *options)
    assert ("at most 5 % apart, or --trust headers|config" in outcome.err) == (code == 2)


def test_many_tensors(tmp_path: Path) -> None:
    # as many as an unmerged mixture of experts has
    names = (f"model.layers.{n // 1000}.mlp.experts.{n % 1000}.weight" for n in range(200_000))
    header = {name: {"dtype": "BF16", "shape": [1], "data_offsets": [2 * n, 2 * n + 2]} for n, name in enumerate(names)}
    data = framed(json.dumps(header).encode(), bytes(400_000))
    place = folder(tmp_path, config__json=CONFIG, model__safetensors=data)
    assert "headers list 400000 bytes" in run_bounded(["fit", place, *CARD]).err
    assert run_bounded(["fit", place, *CARD, "--trust", "headers"]).code == 0


HEAD = gguf()
GGUF = [
    b"", b"GGUF", bytes(100), b"GGML" + HEAD[4:], b"GGUF" + b"\xff" * 100, HEAD[:20], HEAD[:100], HEAD[:1000],
    HEAD[:-40],
    HEAD[:4] + struct.pack("<I", 1) + HEAD[8:], HEAD[:8] + struct.pack("<Q", 1 << 63) + HEAD[16:],
    HEAD[:16] + struct.pack("<Q", 1 << 63) + HEAD[24:], HEAD[:8] + struct.pack("<Q", 131_072) + HEAD[16:],
    gguf(shapes={}), gguf({}), gguf({"general.architecture": "\x1b[31m\n"}),
    gguf({"general.architecture": "x" * 10_000}),
    gguf(shapes=GGUF_SHAPES | {"output.weight": (1 << 62, 2)}), gguf(shapes=GGUF_SHAPES | {"output.weight": (1,) * 5}),
    gguf(shapes=GGUF_SHAPES | {"x" * 2000: (1,)}), gguf(shapes=GGUF_SHAPES | {"blk.7.attn_q.weight": (64, 64)}),
]  # fmt: skip


@pytest.mark.parametrize("data", GGUF, ids=range(len(GGUF)))
def test_gguf_that_lies(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(data)
    broken(tmp_path / "a.gguf", "--engine", "llamacpp")
    broken(tmp_path)


ARRAYS = struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 5
VALUES = [
    0, 1, -1, 3, 7, 10**6, 10**9, (1 << 63) - 1, "", "x", ["a"], struct.pack("<I?", 7, True), struct.pack("<If", 6,
    1.5),
    struct.pack("<Id", 12, float("nan")), struct.pack("<II", 13, 1), struct.pack("<IIQ", 9, 8, 1 << 63),
    struct.pack("<IIQ", 9, 11, 1 << 61), struct.pack("<IQ", 8, 1 << 63), struct.pack("<IIQqq", 9, 11, 2, 1 << 62, 1),
    struct.pack("<IIQq", 9, 11, 1, -1), ARRAYS,
]  # fmt: skip
KEYS = [
    *METADATA, "general.alignment", "split.count", "llama.expert_count", "llama.attention.sliding_window",
    "llama.attention.sliding_window_pattern", "llama.attention.key_length",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_gguf_metadata_that_is_odd(key: str, tmp_path: Path) -> None:
    for value in VALUES:
        path = tmp_path / f"{next(NUMBERS)}.gguf"
        path.write_bytes(gguf(METADATA | {key: value}))
        for engine in ("vllm", "sglang", "llamacpp"):
            ask("fit", str(path), *CARD, "--engine", engine, "--json")


def test_parts_that_do_not_belong_together(tmp_path: Path) -> None:
    for name in ("m-00001-of-00002", "n-00001-of-99999", "o-00000-of-00000"):
        (tmp_path / f"{name}.gguf").write_bytes(gguf())
        broken(tmp_path / f"{name}.gguf")
    broken(tmp_path)
