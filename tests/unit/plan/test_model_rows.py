"""Models of the catalogue as rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tonnage.errors import UnreadableError, UsageError
from tonnage.model.record import from_record
from tonnage.plan.model_rows import add_model, check_models, list_models, show_model

CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
    "max_position_embeddings": 512, "torch_dtype": "bfloat16",
}  # fmt: skip
ORIGIN = {"source": "https://example.org", "seen": "2026-11-30", "basis": "datasheet"}


def test_list_by_text() -> None:
    ids = [row["id"] for row in list_models("qwen3.8")]
    assert "Qwen/Qwen3.8-2.4T-A95B" in ids
    assert all("qwen3.8" in name.lower() for name in ids)
    assert list_models("no such model") == []


def test_list_finds_aliases() -> None:
    assert "HuggingFaceTB/SmolLM2-135M-Instruct" in [row["id"] for row in list_models("smollm2-135m")]


def test_a_row() -> None:
    row = next(row for row in list_models("Qwen/Qwen3-8B") if row["id"] == "Qwen/Qwen3-8B")
    assert row == {
        "id": "Qwen/Qwen3-8B",
        "parameters": 8_190_735_360,
        "active": 8_190_735_360 - 151_936 * 4096,  # the embedding is one row a token
        "layers": 36,
        "stored_bytes": 2 * 8_190_735_360,
        "stored_bits": [16],
        "max_context": 40_960,
        "kv_bytes_per_token": 36 * 8 * 256 * 2,
        "state_bytes_per_request": 0,
    }


def test_one_in_full() -> None:
    row = show_model("moonshotai/kimi-k3")
    assert row["id"] == "moonshotai/Kimi-K3"
    assert row["attention"] == [
        "69 x linear attention (Kimi delta), state of 96 x 128 x 128",
        "24 x latent attention (MLA), 512 + 64 values cached",
    ]
    assert row["feed_forward"][1].startswith("92 x 896 experts of width 3,072, 16 active")
    assert row["kv_bytes_per_token"] == 24 * (512 + 64) * 2
    assert row["source"].startswith("https://")
    assert (row["seen"], row["basis"]) == ("2026-11-30", "datasheet")
    assert from_record(row["arch"]).family == row["family"]
    json.dumps(row)


def test_a_build_says_what_it_is_derived_from() -> None:
    row = show_model("RedHatAI/Qwen3-14B-FP8-dynamic")
    assert (row["basis"], row["seen"], row["stored"]) == ("derived", None, "in 8 bits")
    assert "Qwen/Qwen3-14B" in row["notes"][0]


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="unknown"):
        show_model("no/such-model")


def test_the_packaged_models_are_in_order() -> None:
    assert check_models() == []


class TestOwn:
    """A model of the user's."""

    @pytest.fixture
    def config(self, tmp_path: Path) -> Path:
        """A configuration of two small layers."""
        path = tmp_path / "config.json"
        path.write_text(json.dumps(CONFIG))
        return path

    def test_from_a_configuration(self, config: Path, tmp_path: Path) -> None:
        row = {"id": "me/Mine-1", "aliases": ["mine"], "config": str(config), **ORIGIN}
        assert add_model(row) == str(tmp_path / "catalog")
        line = (tmp_path / "catalog" / "models.jsonl").read_text()
        assert line.startswith('{"id":"me/Mine-1","aliases":["mine"],')
        assert json.loads(line)["arch"]["hidden"] == 64

    def test_from_a_record(self, tmp_path: Path) -> None:
        add_model({"id": "me/again", "arch": show_model("Qwen/Qwen3-8B")["arch"], "notes": ["a copy"], **ORIGIN})
        assert json.loads((tmp_path / "catalog" / "models.jsonl").read_text())["notes"] == ["a copy"]

    @pytest.mark.parametrize(
        ("row", "text"),
        [
            ({}, "id None"),
            ({"id": "x", **ORIGIN}, "no arch"),
            ({"id": "x", "arch": {}, "config": "y", **ORIGIN}, "arch and config"),
            ({"id": "x", "arch": {}, **ORIGIN, "basis": "hearsay"}, "basis 'hearsay'"),
            ({"id": "x", "arch": {}, **ORIGIN, "size": 3}, "key 'size'"),
        ],
    )
    def test_rows_that_say_too_little(self, row: dict[str, Any], text: str, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=text):
            add_model(row)
        assert not (tmp_path / "catalog").exists()

    def test_a_record_that_is_none(self) -> None:
        with pytest.raises(UnreadableError, match="model record"):
            add_model({"id": "x", "arch": {"layers": 3}, **ORIGIN})

    def test_check_finds_what_is_wrong(self, tmp_path: Path) -> None:
        arch = show_model("Qwen/Qwen3-8B")["arch"]
        rows: list[dict[str, Any]] = [
            {"id": "a/broken", "aliases": [], **ORIGIN, "arch": {"layers": 3}},
            {"id": "a/other", "aliases": [], **ORIGIN, "params": 70_000_000_000, "arch": arch},
            {"id": "a/guess", "aliases": [], **ORIGIN, "basis": "hearsay", "arch": arch},
        ]
        (tmp_path / "catalog").mkdir()
        lines = (json.dumps(row, separators=(",", ":")) for row in rows)
        (tmp_path / "catalog" / "models.jsonl").write_text("\n".join(lines))
        problems = check_models()
        assert [problem.split(": ")[1] for problem in problems] == ["a/broken", "a/other", "a/guess"]
        assert problems[1] == "models: a/other: 8,190,735,360 parameters, 70,000,000,000 published"
