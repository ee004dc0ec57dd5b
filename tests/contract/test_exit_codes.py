"""Exit codes and streams of the real process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from process import environment, run_tonnage


def test_yes(small_model: Path) -> None:
    done = run_tonnage(["fit", str(small_model), "--on", "1xH100"])
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith("small-8b fits on 1 x H100")


def test_no(small_model: Path) -> None:
    # 8.03 billion parameters in BF16 are 15.0 GiB, the card has 12
    done = run_tonnage(["fit", str(small_model), "--on", "1xRTX 3060 12GB", "--json"])
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["fits"] is False


def test_a_refused_layout_is_a_no(small_model: Path) -> None:
    done = run_tonnage(["fit", str(small_model), "--on", "3xH100", "--tp", "3", "--json"])
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "layout-invalid"


@pytest.mark.parametrize(
    "words",
    [
        ["fit"],
        ["fit", "no-such-folder/at-all", "--on", "1xH100"],
        ["fit", "no-such-folder/at-all", "--on", "1xH100", "--json"],
        ["fit", "x", "--on", "8xNoSuchCard"],
        ["fit", "x", "--on", "0xH100"],
        ["fit", "--on", "1xH100", "--tp", "-1", "x"],
        ["fit", "--batch", "no-such-file"],
        ["frobnicate"],
        ["receipt"],
        ["catalog", "show", "NoSuchCard"],
    ],
)
def test_wrong_use_is_one_line_and_two(words: list[str]) -> None:
    done = run_tonnage(words)
    assert done.returncode == 2, done.stderr.decode()
    error = done.stderr.decode()
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert error.count(": ") >= 2
    assert "internal fault" not in error


def test_a_broken_model_is_two(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": "many"')
    done = run_tonnage(["fit", str(tmp_path), "--on", "1xH100"])
    assert done.returncode == 2, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert b"internal fault" not in done.stderr


def test_a_batch_answers_in_order_in_one_process(small_model: Path) -> None:
    lines = [{"id": f"q{n}", "model": str(small_model), "gpu": "H100 80GB", "gpu_count": n} for n in (1, 2, 4)]
    text = "\n".join([*map(json.dumps, lines), "{broken"])
    done = run_tonnage(["fit", "--batch", "-", "--json"], text.encode())
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["id"] for result in results] == ["q1", "q2", "q4", None]
    assert [result.get("fits") for result in results] == [True, True, True, None]
    assert (done.returncode, results[-1]["code"]) == (2, 2)


def test_a_reader_that_leaves_is_no_error() -> None:
    command = "import sys; from tonnage.ui.cli.main import main; sys.exit(main())"
    child = subprocess.Popen(
        [sys.executable, "-c", command, "catalog", "list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert child.stdout is not None
    child.stdout.close()
    _, error = child.communicate(timeout=60)
    assert error == b""
    assert child.returncode == 141  # 128 + SIGPIPE, as for every program in a pipe
