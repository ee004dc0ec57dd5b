"""The model a question names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tonnage.catalog import models as catalog
from tonnage.errors import UnreadableError, UsageError
from tonnage.plan.models import find_model, is_place
from tonnage.seams.overlay import VARIABLE

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "num_hidden_layers": 1,
    "vocab_size": 1000,
    "max_position_embeddings": 512,
    "torch_dtype": "bfloat16",
}


def test_the_record_has_what_the_contract_names() -> None:
    assert find_model("kimi-k3").record() == {
        "id": "moonshotai/Kimi-K3",
        "family": "kimi_linear",
        "parameters": {
            "total": 2_779_931_834_976,
            "active": 104_189_612_640,  # the publisher says 104 billion
            "text": 2_779_484_476_000,
            "towers": 447_358_976,
            "draft": 0,
        },
        "stored_bytes": 1_560_860_298_368,  # the publisher says 1.56 TB
        "dtype": "bfloat16",
        "quantization": "compressed-tensors",
        "max_context": 1_048_576,
        "source": find_model("kimi-k3").source,
    }


def test_a_model_is_built_once_a_process() -> None:
    assert find_model("Qwen/Qwen3-8B", None, None) is find_model("Qwen/Qwen3-8B", None, None)


def test_a_precision_changes_the_stored_bytes_and_says_so() -> None:
    stored, asked = find_model("Qwen/Qwen3-8B"), find_model("Qwen/Qwen3-8B", "fp8")
    # 8.19 billion parameters, 1.24 of them in tables that stay in 16 bit, and a fp32 scale per output channel
    assert asked.record()["stored_bytes"] == pytest.approx(8.19e9 + 1.245e9, rel=0.002)
    assert stored.record()["stored_bytes"] == 2 * 8_190_735_360
    assert stored.notes == ()
    assert asked.notes[0].startswith("stored as 16-bit floats, taken as if published in fp8")
    assert asked.record()["quantization"] == "compressed-tensors"


def test_a_precision_that_is_stored_changes_nothing() -> None:
    assert find_model("openai/gpt-oss-120b", "mxfp4").parts is find_model("openai/gpt-oss-120b").parts


def test_metas_fp8_keeps_more_than_others_in_16_bit() -> None:
    meta = find_model("meta-llama/Llama-3.1-405B-FP8", "fp8").record()["stored_bytes"]
    # logged per rank of eight: 56.77 GiB, rotary tables and norms that stand on each included
    assert meta / 8 / 2**30 == pytest.approx(56.77, abs=0.06)
    amd = find_model("amd/Meta-Llama-3.1-405B-Instruct-FP8-KV", "fp8").record()["stored_bytes"]
    assert amd / 8 / 2**30 < 48


def test_published_scales_confirm_which_modules_are_fp8() -> None:
    # Published totals count scales: 405,868,625,920 - 405,853,388,800 = 15,237,120
    # = 124 layers x (53,248 + 53,248 + 16,384) output channels
    parts = find_model("meta-llama/Llama-3.1-405B-FP8").parts
    scaled = [piece for number in parts.class_of for piece in parts.classes[number] if piece.format]
    assert sum(piece.tensor.rows for piece in scaled) == 405_868_625_920 - 405_853_388_800
    # GLM 4.7: 358,458,391,872 - 358,337,791,296 = 120,600,576, prediction layer included
    parts = find_model("zai-org/GLM-4.7-FP8").parts
    pieces = [piece for number in parts.class_of for piece in parts.classes[number]]
    scaled = [piece for piece in (*pieces, *parts.draft) if piece.format]
    assert sum(piece.tensor.rows * piece.tensor.copies for piece in scaled) == 358_458_391_872 - 358_337_791_296


@pytest.mark.parametrize("name", ["Qwen/Qwen3-9B", "", "  ", "no such model", "x" * 5_000])
def test_unknown_names(name: str) -> None:
    with pytest.raises(UsageError, match=r"^model: unknown"):
        find_model(name)


def test_unknown_trust() -> None:
    with pytest.raises(UsageError, match="headers or config"):
        find_model("Qwen/Qwen3-8B", None, "hope")


def test_unknown_precision() -> None:
    with pytest.raises(UsageError, match="precision"):
        find_model("Qwen/Qwen3-8B", "fp9")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hf:Qwen/Qwen3-8B", True),
        ("./model", True),
        ("/models/x", True),
        ("../x", True),
        ("config.json", True),
        ("small.GGUF", True),
        ("model.safetensors", True),
        ("Qwen/Qwen3-8B", False),
        ("qwen3-8b", False),
    ],
)
def test_places_and_names(name: str, expected: bool) -> None:
    assert is_place(name) is expected


def write(folder: Path, config: dict[str, Any]) -> Path:
    """A configuration file in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def test_a_folder_or_its_configuration(tmp_path: Path) -> None:
    folder = write(tmp_path / "small", LLAMA)
    for name in (str(folder), str(folder / "config.json")):
        model = find_model(name)
        assert model.parts.arch.hidden == 128
        assert model.id == name
        assert model.headers is None
        assert "small" in model.source


def test_a_folder_in_this_directory_needs_no_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "own-model", LLAMA)
    monkeypatch.chdir(tmp_path)
    assert find_model("own-model").parts.arch.hidden == 128


def test_broken_and_missing_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "broken", LLAMA)
    (folder / "config.json").write_text("{", encoding="utf-8")
    for name in (str(folder), str(tmp_path / "nothing" / "config.json"), f"{tmp_path}/nothing.gguf"):
        with pytest.raises(UnreadableError):
            find_model(name)


def test_a_model_of_the_user_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preset = catalog.find_preset("Qwen/Qwen3-8B")
    assert preset is not None
    row = {"id": "me/House-8B", "aliases": ["house"], "source": "own", "seen": "2026-01-01", "basis": "assumed"}
    line = json.dumps({**row, "arch": preset.record}, separators=(",", ":"))
    (tmp_path / catalog.FILE).write_text(line, encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert find_model("me/House-8B").id == "me/House-8B"
    assert find_model("me/House-8B-FP8").parts.arch.scheme is not None
