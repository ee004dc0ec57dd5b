"""Many questions in one process are quick, measured against plain Python on the same core in the same minute."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tonnage.ui.cli.main import main

# One unit is a loop of this many additions, 3.4 ms on the small shared machine where the marks were set.
LOOP = 100_000
# 300 questions a second are 3.3 ms each, and a fifth for noise. Measured: 0.65.
MAX_UNITS_PER_QUESTION = 1.2
# A second for all layouts of one model on all kinds of cards. Measured: 80.
MAX_UNITS_PER_SWEEP = 300
ATTEMPTS = 4  # a neighbour on the same core may spoil one comparison, hardly four
MODELS = ("Qwen/Qwen3-235B-A22B-FP8", "meta-llama/Meta-Llama-3.1-70B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3")
CARDS = ("H100", "MI300X", "H200")


def spent(work: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def loop() -> int:
    """The yardstick: a plain interpreter loop."""
    total = 0
    for number in range(LOOP):
        total += number & 3
    return total


def units(work: Callable[[], object], enough: float) -> float:
    """How many yardsticks `work` takes, the best of a few comparisons; `enough` ends them early."""
    best = float("inf")
    for _ in range(ATTEMPTS):
        unit = min(spent(loop) for _ in range(5))
        best = min(best, spent(work) / unit)
        if best <= enough:
            break
    return best


def quiet(words: list[str]) -> str:
    """What the command prints, in this process."""
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert main(words) in (0, 1)
    return shown.getvalue()


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    """A file of 300 questions over models, cards, layouts and lengths."""
    path = tmp_path / "questions.jsonl"
    lines = [
        {"id": n, "model": MODELS[n % 4], "gpu": CARDS[n % 3], "gpu_count": 8, "tp": 8, "max_model_len": 4096 + 16 * n}
        for n in range(300)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_a_batch(batch: Path) -> None:
    words = ["fit", "--batch", str(batch), "--json"]
    assert len(quiet(words).splitlines()) == 300
    taken = units(lambda: quiet(words), 300 * MAX_UNITS_PER_QUESTION) / 300
    assert taken <= MAX_UNITS_PER_QUESTION, f"{taken:.2f} loops of {LOOP:,} additions a question"


def test_all_kinds_of_cards() -> None:
    words = ["cards", "Qwen/Qwen3-235B-A22B-FP8", "--json"]
    rows = json.loads(quiet(words))["rows"]
    assert len(rows) > 30
    taken = units(lambda: quiet(words), MAX_UNITS_PER_SWEEP)
    assert taken <= MAX_UNITS_PER_SWEEP, f"{taken:.0f} loops of {LOOP:,} additions"
