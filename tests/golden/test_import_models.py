"""The importer: what it writes from small inputs, and that the packaged file is what it writes today."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tonnage.catalog import models
from tonnage.catalog.models import Presets

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "num_hidden_layers": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 512,
}
# per layer 49,152 + 98,304 + 256 norms; tables 2 x 128,000; final norm 128
TOTAL = 2 * (49_152 + 98_304 + 256) + 256_000 + 128


def run_importer(root: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The importer in a process of its own, warnings and all."""
    command = [sys.executable, str(root / "validation" / "import_models.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(root / "src")}, check=False)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A JSON Lines file."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def small_inputs(folder: Path) -> list[object]:
    """A configuration, facts that change it, and a total that does not agree."""
    configs = folder / "configs"
    configs.mkdir()
    (configs / "me__Small-1B-Chat.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    facts = [
        {"id": "me/Small-1B-Chat", "aliases": ["tiny"], "params": TOTAL},
        {"id": "me/Long-1B", "like": "me/Small-1B-Chat", "set": {"max_position_embeddings": 1024}, "params": 9_999_999},
        {"id": "me/Broken-1B", "like": "me/Small-1B-Chat", "set": {"hidden_size": None}},
    ]
    return ["--configs", configs, "--facts", write_lines(folder / "facts.jsonl", facts)]


def test_small_inputs(root: Path, tmp_path: Path) -> None:
    done = run_importer(root, *small_inputs(tmp_path), "-o", tmp_path / models.FILE)
    assert done.returncode == 0, done.stderr
    assert "refused me/Broken-1B: hidden_size" in done.stderr
    presets = Presets(tmp_path)
    small, long = presets.find("small-1b"), presets.find("Long-1B")
    assert small is not None
    assert (small.id, small.params, small.basis) == ("me/Small-1B-Chat", TOTAL, "datasheet")
    assert "tiny" in small.aliases
    assert small.origin == "https://huggingface.co/me/Small-1B-Chat"
    assert long is not None
    assert long.record["max_context"] == 1024
    assert long.notes == ("94.5% fewer parameters than the published total",)


def test_the_packaged_file_is_what_the_importer_writes(root: Path, shared: Path, tmp_path: Path) -> None:
    inputs = ["--configs", shared / "models", "--totals", shared / "evidence" / "models.jsonl"]
    done = run_importer(root, *inputs, "--facts", root / "validation" / "model_facts.jsonl", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "refused" not in done.stderr
    packaged = Path(models.__file__).parent / "data" / models.FILE
    assert (tmp_path / "out").read_text(encoding="utf-8") == packaged.read_text(encoding="utf-8")
