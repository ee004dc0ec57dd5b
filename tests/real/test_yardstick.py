"""The tools around the real engine, tested where no engine is installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import engine
from tiny import merge, read_tiny, write_folders

LOG = """
(Worker pid=26720) INFO 11-30 20:10:35 [cpu_worker.py:260] Explicitly set (1.0/10.21) GiB for KV cache on node 0.
(EngineCore pid=26378) INFO 11-30 20:10:35 [kv_cache_utils.py:2327] CPU KV cache size: 46,592 tokens, \
Maximum concurrency for 2,048 tokens per request: 22.75x
"""


def test_kv_line_is_read_from_a_log() -> None:
    assert engine.KvLine.find(LOG) == engine.KvLine(tokens=46_592, context=2048, concurrency=22.75)


def test_a_log_without_the_line_gives_none() -> None:
    assert engine.KvLine.find("Starting to load model") is None


def test_an_unfinished_installation_is_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_VLLM_ENV", str(tmp_path))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    assert engine.interpreter() is None
    (tmp_path / "complete.txt").touch()
    assert engine.interpreter() == tmp_path / "bin" / "python"


def test_the_cache_folder_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TONNAGE_VLLM_ENV", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert engine.environment() == Path("/caches/tonnage-ci/vllm")


def test_stopping_ends_the_children_too() -> None:
    # The grandchild outlives its parent unless the whole group is ended.
    nap = "import time; time.sleep(60)"
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {nap!r}]); {nap}"
    with engine.process_group([sys.executable, "-c", script], dict(os.environ)) as process:
        assert engine.group_lives(process)
    assert not engine.group_lives(process)


def test_a_table_goes_over_its_blocks() -> None:
    blocks = {"base": {"a": 1, "b": 1, "c": 1}, "more": {"b": 2, "d": 2, "without": ["a"]}}
    assert merge(blocks, {"with": ["more"], "d": 3}) == {"b": 2, "c": 1, "d": 3}


def test_a_repeated_list_is_written_out() -> None:
    layers = merge({"base": {}}, {"layer_types": {"repeat": ["window", "full"], "times": 2}})["layer_types"]
    assert layers == ["window", "full", "window", "full"]


def test_layer_lists_are_as_long_as_the_model() -> None:
    lists = {
        name: (len(config["layer_types"]), config["num_hidden_layers"])
        for name, config in read_tiny().items()
        if "layer_types" in config
    }
    assert {name: pair for name, pair in lists.items() if pair[0] != pair[1]} == {}


def test_every_configuration_becomes_a_folder(tmp_path: Path) -> None:
    folders = write_folders(tmp_path)
    assert all((folder / "config.json").is_file() for folder in folders.values())
    assert set(folders) == set(read_tiny())
