"""tonnage against a real vLLM on the CPU: the same bytes, the same blocks, the same logged numbers.

Every attention kind is started on the real engine with a tiny configuration and dummy weights; one real
model is served over HTTP. What the CPU back end refuses is refused here with its words, so that a newer
engine that learns it turns the test red and the expectation can be raised.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import engine  # noqa: E402
from tiny import read_tiny, write_folders  # noqa: E402

pytestmark = [
    pytest.mark.real_engine,
    pytest.mark.skipif(
        engine.interpreter() is None,
        reason=f"no engine in {engine.environment()}: run tests/real/install_vllm.sh",
    ),
]

CONTEXT = 2048
KV_BYTES = 64 * 2**20
TOKENS_A_STEP = 2048
SEQS = 128

# What the CPU back end of this version says to what it cannot run without AMX, and why no number is compared.
REFUSED = {
    "dsa": "Sparse Attention is not supported on CPU",
    "compressed": "requires AMX tile support",
    "kda": "--mamba-block-size can only be set with --enable-prefix-caching",
}
# On the CPU the latent attention's block is 16 tokens without AMX and 128 with it: asked for, not predicted.
LATENT = ("mla", "mla_v3")
# Here a worker raises the block once the model is loaded; tonnage names that block and plans with it when asked.
HYBRID = ("mamba1", "mamba2", "gated_delta", "gated_delta_dense")
# Started by the engine, not read by tonnage: it must say so and not guess.
UNREAD = ("mamba2_pure",)
COMPARED = [name for name in read_tiny() if name not in {*REFUSED, *UNREAD}]
# The factor of Gemma's embeddings lies in a buffer of one bfloat16.
SCALAR_BYTES = 2
WRONG_USE = 2


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for every attention kind."""
    return write_folders(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def planned(folders: dict[str, Path]) -> dict[str, dict[str, Any]]:
    """What the real engine holds and plans for every tiny configuration; about two minutes."""
    options = ["--context", str(CONTEXT), "--kv-bytes", str(KV_BYTES)]
    options += ["--max-num-batched-tokens", str(TOKENS_A_STEP), "--max-num-seqs", str(SEQS)]
    return engine.measure(list(folders.values()), *options)


def ask(model: Path, context: int, kv_bytes: int, *flags: str) -> tuple[int, dict[str, Any]]:
    """Ask the command line, as a script would; return its exit code and its answer."""
    command = [sys.executable, "-m", "tonnage.ui.cli.main", "fit", str(model), "--on", "1xCPU", "--eager", "--json"]
    command += ["--engine", f"vllm@{engine.VERSION}", "--context", str(context), "--kv-bytes", str(kv_bytes)]
    source = str(HERE.parents[1] / "src")
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))}
    done = subprocess.run([*command, *flags], capture_output=True, text=True, env=settings, check=False)
    return done.returncode, json.loads(done.stdout)


def ask_tiny(folder: Path, *flags: str) -> tuple[int, dict[str, Any]]:
    """Ask about one tiny configuration under the settings the engine was started with."""
    limits = ("--max-num-batched-tokens", str(TOKENS_A_STEP), "--max-num-seqs", str(SEQS))
    return ask(folder, CONTEXT, KV_BYTES, *limits, *flags)


def attention_block(real: dict[str, Any]) -> int:
    """Return the tokens per block of the engine's attention layers."""
    return next(group["block_size"] for group in real["groups"] if group["kind"] != "MambaSpec")


@pytest.mark.parametrize("name", COMPARED)
def test_tiny_model_costs_what_the_engine_says(
    name: str, folders: dict[str, Path], planned: dict[str, dict[str, Any]]
) -> None:
    real = planned[name]
    assert "error" not in real, real["error"]
    block = ("--block-size", str(attention_block(real))) if name in (*LATENT, *HYBRID) else ()
    _, answer = ask_tiny(folders[name], *block)
    assert answer["weights_bytes_per_rank"] == pytest.approx(real["weight_bytes"], abs=SCALAR_BYTES, rel=0)
    assert answer["kv_cache_tokens"] == real["kv_cache_tokens"]
    assert answer["max_concurrency_x"] == pytest.approx(real["max_concurrency"], abs=0.005)


@pytest.mark.parametrize("name", COMPARED)
def test_the_pool_has_as_many_blocks(name: str, folders: dict[str, Path], planned: dict[str, dict[str, Any]]) -> None:
    real = planned[name]
    block = ("--block-size", str(attention_block(real))) if name in (*LATENT, *HYBRID) else ()
    _, answer = ask_tiny(folders[name], *block, "--explain")
    lines = {line["name"]: line for line in answer["ranks"][0]["lines"]}
    assert lines["kv_cache"]["trace"].startswith(f"{real['num_blocks']:,} blocks of ")


@pytest.mark.parametrize("name", HYBRID)
def test_the_raised_block_of_a_hybrid_is_named(
    name: str, folders: dict[str, Path], planned: dict[str, dict[str, Any]]
) -> None:
    _, answer = ask_tiny(folders[name])
    assert any(f"to {attention_block(planned[name])} tokens" in note for note in answer["notes"])


@pytest.mark.parametrize("name", UNREAD)
def test_a_model_that_is_not_read_is_refused(
    name: str, folders: dict[str, Path], planned: dict[str, dict[str, Any]]
) -> None:
    assert "error" not in planned[name]
    code, answer = ask_tiny(folders[name])
    assert code == WRONG_USE
    assert "error" in answer


@pytest.mark.parametrize("name", REFUSED)
def test_the_cpu_back_end_refuses(name: str, planned: dict[str, dict[str, Any]]) -> None:
    assert REFUSED[name] in planned[name].get("error", "it started")


def test_the_engine_logs_what_it_plans(planned: dict[str, dict[str, Any]]) -> None:
    logged = {name: engine.KvLine.find(row["log"]) for name, row in planned.items() if "error" not in row}
    assert {name: line and line.tokens for name, line in logged.items()} == {
        name: planned[name]["kv_cache_tokens"] for name in logged
    }


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SmolLM2-135M-Instruct as a folder of safetensors."""
    folder = tmp_path_factory.mktemp("model") / "smollm2"
    engine.run("make_smollm2.py", str(folder))
    return folder


def test_served_model_is_the_one_predicted(smollm2: Path, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    question = [
        {"role": "system", "content": "You are a helpful AI assistant named SmolLM, trained by Hugging Face"},
        {"role": "user", "content": "What is the capital of France?"},
    ]
    with engine.serve(smollm2, free_port(), log, "--max-model-len", "2048", "--served-model-name", "smollm2") as server:
        said = server.post("/v1/chat/completions", {"model": "smollm2", "messages": question, "temperature": 0})
        metrics = server.get("/metrics")
    assert "Paris" in said["choices"][0]["message"]["content"]
    assert "vllm:kv_cache_usage_perc" in metrics
    line = engine.KvLine.find(log.read_text())
    # 30 layers x 3 heads x 64 x 2 sides x 2 B = 23,040 B a token; 2^30 // (128 x 23,040) = 364 blocks = 46,592 tokens
    assert line == engine.KvLine(tokens=46_592, context=2048, concurrency=22.75)
    _, answer = ask(smollm2, 2048, 2**30)
    assert answer["kv_cache_tokens"] == line.tokens
    assert answer["max_concurrency_x"] == pytest.approx(line.concurrency, abs=0.005)
    # 134,515,008 parameters x 2 B, the rope table of 8,192 x 64 x 2 B and four scales of 4 B in each of 30 layers
    assert answer["weights_bytes_per_rank"] == 269_030_016 + 1_048_576 + 480
