"""Whatever somebody types or whatever a file holds: an answer or one line, in time, without a trace."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcome import ask
from samples import CONFIG, gguf, safetensors

from tonnage.ui.cli.verbs import NAMES
from tonnage.ui.views.options import OPTIONS

NUMBERS = count()  # a file of its own for each example: a process remembers the models it has read
FUZZ = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), print_blob=False)
FAMILIES = (
    "deepseek-ai__DeepSeek-V4-Flash", "google__gemma-4-26B-A4B", "moonshotai__Kimi-K2.5", "openai__gpt-oss-20b",
    "nvidia__MiniMax-M3-NVFP4", "Qwen__Qwen3-VL-8B-Instruct", "Qwen__Qwen3.6-35B-A3B", "ai21labs__Jamba-v0.1",
    "nvidia__NVIDIA-Nemotron-3-Super-120B-A12B-FP8", "XiaomiMiMo__MiMo-V2-Flash",
)  # fmt: skip
ENGINES = ("vllm", "vllm@0.6.4", "vllm@0.11.0", "sglang", "sglang@0.4.6", "llamacpp")
FLEETS = ("1xH100", "8xMI300X", "2x8xH100", "3xRTX4090", "1xCPU")

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 3000), st.floats(), st.text(max_size=12),
    st.sampled_from([10**6, 10**9, 1 << 63, 10**400, "9" * 50, "fp8", "int4", "auto", "mamba", "M*-E"]),
)  # fmt: skip
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=6),
    st.dictionaries(st.text(max_size=6), SCALARS, max_size=3),
    st.sampled_from([[0] * 10_000, ["full_attention"] * 10_000, [[]], {"a": {"a": {}}}]),
)
# How a quantised checkpoint might describe itself, and how it does not.
METHODS = ("fp8", "gptq", "awq", "compressed-tensors", "modelopt", "quark", "torchao", "bitsandbytes", "mxfp4")
DETAILS = (
    "bits", "group_size", "weight_block_size", "config_groups", "ignore", "quant_algo", "fmt", "format", "quant_type",
    "modules_to_not_convert", "activation_scheme", "kv_cache_scheme", "quantized_layers", "layer_quant_config",
)  # fmt: skip
QUANTISED = st.fixed_dictionaries(
    {"quant_method": st.one_of(st.sampled_from(METHODS), VALUES)}, optional=dict.fromkeys(DETAILS, VALUES)
)
WORDS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [*NAMES, *(option.flag for option in OPTIONS), "--json", "--on", "--engine", "--explain", "--", "-"]
    ),
    st.sampled_from(
        ["Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3", "8xH100", "2x8xMI300X", "fp8", "16", "0", "-1", "nan"]
    ),
    st.integers(-5, 1 << 60).map(str),
    st.floats().map(str),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(document: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """The document with one to three values replaced, moved to another place, or left out."""
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        known = list(places(document))
        if known:
            change(document, data.draw(st.sampled_from(known)), known, data)
    return document


def change(document: dict[str, Any], path: tuple[Any, ...], known: list[tuple[Any, ...]], data: st.DataObject) -> None:
    """One change at `path`."""
    inner: Any = document
    for key in path[:-1]:
        inner = inner[key]
    how = data.draw(st.sampled_from(["value", "value", "value", "other", "absent"]))
    if how == "absent":
        del inner[path[-1]]
        return
    found: Any = document
    for key in data.draw(st.sampled_from(known)) if how == "other" else ():
        found = found[key]
    # A drawn list is the one of every draw, and the next change may go into it.
    inner[path[-1]] = copy.deepcopy(found if how == "other" else data.draw(VALUES))


def ask_about(place: Path, data: st.DataObject) -> None:
    """A question about the model at a place."""
    engine, fleet = data.draw(st.sampled_from(ENGINES)), data.draw(st.sampled_from(FLEETS))
    options = data.draw(
        st.sampled_from([["--json"], ["--explain"], ["--trust", "headers"], ["--trust", "config", "--json"]])
    )
    ask("fit", str(place), "--on", fleet, "--engine", engine, *options)


def write(folder: Path, config: object, **files: bytes) -> Path:
    """A new folder with a configuration and other files."""
    place = folder / str(next(NUMBERS))
    place.mkdir()
    (place / "config.json").write_text(json.dumps(config))
    for name, content in files.items():
        (place / name.replace("__", ".")).write_bytes(content)
    return place


@pytest.mark.parametrize("name", FAMILIES)
@settings(FUZZ, max_examples=15)
@given(data=st.data())
def test_configurations_of_real_families(shared: Path, tmp_path: Path, name: str, data: st.DataObject) -> None:
    config = json.loads((shared / "models" / f"{name}.json").read_text())
    ask_about(write(tmp_path, changed(config, data)), data)


@settings(FUZZ, max_examples=60)
@given(data=st.data())
def test_configurations(tmp_path: Path, data: st.DataObject) -> None:
    ask_about(write(tmp_path, changed(CONFIG, data)), data)


@settings(FUZZ, max_examples=60)
@given(data=st.data(), quantised=QUANTISED)
def test_quantisation(tmp_path: Path, data: st.DataObject, quantised: dict[str, Any]) -> None:
    ask_about(write(tmp_path, CONFIG | {"quantization_config": quantised}), data)


@settings(FUZZ, max_examples=60)
@given(data=st.data(), depth=st.integers(1, 80))
def test_nested_text_configurations(tmp_path: Path, data: st.DataObject, depth: int) -> None:
    config: dict[str, Any] = changed(CONFIG, data)
    for _ in range(depth):
        config = {"model_type": data.draw(st.sampled_from(["llama", "qwen3_vl", "x"])), "text_config": config}
    ask_about(write(tmp_path, config), data)


@settings(FUZZ, max_examples=60)
@given(data=st.data(), text=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_any_text_as_configuration(tmp_path: Path, data: st.DataObject, text: bytes) -> None:
    place = write(tmp_path, {})
    (place / "config.json").write_bytes(text)
    ask_about(place, data)


def damaged(whole: bytes, data: st.DataObject, reach: int) -> bytes:
    """A file with some of its first bytes changed, perhaps cut off."""
    found = bytearray(whole)
    for place in data.draw(st.lists(st.integers(0, min(reach, len(whole)) - 1), min_size=1, max_size=4)):
        found[place] = data.draw(st.one_of(st.sampled_from([0, 0xFF]), st.integers(0, 255)))
    return bytes(found[: data.draw(st.sampled_from([len(found), len(found), len(found) // 2, 30]))])


@settings(FUZZ, max_examples=60)
@given(data=st.data())
def test_headers_of_safetensors(tmp_path: Path, data: st.DataObject) -> None:
    ask_about(write(tmp_path, CONFIG, model__safetensors=damaged(safetensors(), data, 2500)), data)


@settings(FUZZ, max_examples=60)
@given(data=st.data())
def test_headers_of_gguf(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / f"{next(NUMBERS)}.gguf"
    path.write_bytes(damaged(gguf(), data, 4000))
    ask_about(path, data)


@settings(FUZZ, max_examples=60)
@given(verb=st.sampled_from(["fit", "fit", "cards", "catalog", "completion"]), words=st.lists(WORDS, max_size=7))
def test_command_lines(verb: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_CATALOG", str(tmp_path / "own"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    ask(verb, *words)


@settings(FUZZ, max_examples=60)
@given(name=st.text(max_size=30), fleet=st.text(max_size=30))
def test_names(name: str, fleet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in ((f"./{name}", "--on", "1xH100"), ("Qwen/Qwen3-8B", "--on", fleet), ("x", "--engine", f"vllm@{name}")):
        ask("fit", *words, "--json")
    ask("catalog", "show", fleet, "--json")


@settings(FUZZ, max_examples=60)
@given(lines=st.lists(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)), max_size=6))
def test_logs_and_batches_of_anything(tmp_path: Path, lines: list[bytes]) -> None:
    (tmp_path / "any").write_bytes(b"\n".join(lines))
    ask("receipt", str(tmp_path / "any"), "--json")
    ask("fit", "--batch", str(tmp_path / "any"), "--json")
