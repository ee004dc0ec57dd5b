"""Command lines, fleets, engines and limits that nobody should write: an answer or one line, never more."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from outcome import COMMAND, ask, refuse, run_bounded
from process import environment

from tonnage.ui.cli.verbs import NAMES

MODEL = "Qwen/Qwen3-8B"
MIXED = "Qwen/Qwen3-30B-A3B"
LATENT = "deepseek-ai/DeepSeek-V3"
RED = "\x1b[31m"
HALF = "\udcff"  # a byte of the command line that is no UTF-8


@pytest.mark.parametrize("words", [["--help"], ["-h"], [], *([name, "--help"] for name in NAMES)], ids=" ".join)
def test_help_is_done(words: list[str]) -> None:
    outcome = ask(*words)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("usage: tonnage")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["frob"], "VERB: 'frob': one of "),
        (["version", "x"], "unknown argument: x: "),
        (["fit", "", "="], "unknown argument: =: "),
        (["fit"], "MODEL: absent: "),
        (["fit", "", "--on", "1xH100"], "model: absent: "),
        (["fit", MODEL], "--on: absent: "),
        (["fit", MODEL, "--on"], "--on: expected one argument: "),
        (["fit", MODEL, "--on", "1xH100", "--jsn"], "unknown argument: --jsn: nearest: --json"),
        (["fit", MODEL, "--on", "1xH100", "--tp", "-1"], "--tp: "),
        (["fit", MODEL, "--on", "1xH100", "--tp", "1.5"], "--tp: '1.5': a whole number of 1 or more"),
        (["fit", MODEL, "--on", "1xH100", "--context", "0"], "--context: '0': a whole number of 1 or more"),
        (["fit", MODEL, "--on", "1xH100", "--context", "²"], "--context: '²': a whole number"),
        (["fit", MODEL, "--on", "1xH100", "--utilization", "0"], "gpu_memory_utilization: 0.0: a fraction above 0"),
        (["fit", MODEL, "--on", "1xH100", "--utilization", "1.5"], "gpu_memory_utilization: 1.5: a fraction"),
        (["fit", MODEL, "--on", "1xH100", "--utilization", "nan"], "--utilization: 'nan': a number of 0 or more"),
        (["fit", MODEL, "--on", "1xH100", "--offload-gib", "inf"], "--offload-gib: 'inf': a number of 0 or more"),
        (["fit", MODEL, "--on", "1xH100", "--kv-bytes", "0"], "--kv-bytes: '0': a whole number"),
        (["fit", MODEL, "--on", "1xH100", "--kv-dtype", "junk"], "KV cache type: junk: one of"),
        (["fit", MODEL, "--on", "1xH100", "--trust", "Headers"], "trust: Headers: headers or config"),
        (["fit", MODEL, "--on", "1xH100", "--trust", ""], "trust: '': headers or config"),
        (["fit", MODEL, "--on", "1xH100", "--engine", "tgi"], "engine: tgi: one of vllm, sglang, llamacpp"),
        (["fit", MODEL, "--on", "1xH100", "--engine", "vllm@junk"], "vLLM version: "),
        (["fit", MODEL, "--on", "1xH100", "--engine", "sglang@٣"], "SGLang version: "),
        (["fit", RED, "--on", "1xH100"], r"model: unknown '\x1b[31m'"),
        (["fit", HALF, "--on", "1xH100"], r"model: unknown '\udcff'"),
        (["fit", "a\nb", "--on", "1xH100"], r"model: unknown 'a\nb'"),
        (["fit", "/a\0b", "--on", "1xH100"], r"/a\x00b: embedded null byte"),
        (["fit", "hf:../etc/passwd", "--on", "1xH100"], "model: 'hf:../etc/passwd': hf:ORG/NAME"),
        (["fit", "hf:a", "--on", "1xH100"], "model: 'hf:a': hf:ORG/NAME"),
        (["cards"], "MODEL: absent: "),
        (["cards", MODEL, "--tp", "2"], "layout: TP2: none"),
        (["completion", "fish"], "SHELL: 'fish': one of "),
        (["catalog", "frob"], "action: 'frob': one of "),
        (["catalog", "list", "--kind", "frob"], "--kind: 'frob': one of "),
        (["catalog", "show"], "NAME: absent: "),
        (["catalog", "show", RED], "accelerator: unknown "),
    ],
)
def test_wrong_words(words: list[str], error: str) -> None:
    assert refuse(*words).startswith(error)


@pytest.mark.parametrize("flag", ["--on", "--engine", "--precision", "--kv-dtype", "--trust", "--tp", "--utilization"])
@pytest.mark.parametrize("text", ["y" * 100_000, f"{RED}red\nrum", f"{HALF}\x85"], ids=["long", "control", "bytes"])
def test_no_value_breaks_the_line(flag: str, text: str) -> None:
    refuse("fit", MODEL, "--on", "1xH100", flag, text)


@pytest.mark.parametrize("text", ["y" * 100_000, "/" + "y" * 100_000, "8x" * 5000, f"hf:a/{'b' * 5000}@", "@x", "é/ü"])
def test_no_name_breaks_the_line(text: str) -> None:
    refuse("fit", text, "--on", "1xH100")
    refuse("fit", MODEL, "--on", text)
    refuse(text)


@pytest.mark.parametrize(
    "fleet",
    [
        "0xH100", "-1x8xH100", "8x", "x8", "x", "8xx8xH100", "8x2x1xH100", "1e3xH100", "8.5xH100", "٣xH100", "²xH100",
        "99999999999999999999xH100", "1025xH100", "0GB card", "-5GB card", "nan GB card", "99999999999GB card",
        "A100 MIG 9g.999gb", "H100 CPX", "H", "()", "reporting", "any", "None", "0", ".toml", "absent.toml",
    ],
)  # fmt: skip
def test_fleets_that_are_none(fleet: str) -> None:
    refuse("fit", MODEL, "--on", fleet)


@pytest.mark.parametrize("fleet", ["1024xH100", "1000x1024xH100", "Strix Halo (² GiB pool)", "8 x H100", "8×H100"])
def test_odd_fleets_have_an_answer(fleet: str) -> None:
    for model, engine in product((MODEL, LATENT), ("vllm", "sglang")):
        ask("fit", model, "--on", fleet, "--engine", engine, "--json")


EXTREMES = [
    ["--utilization", "1e-300"], ["--utilization", "1"], ["--context", "1"], ["--context", "1000000000000"],
    ["--context", "1000000000000", "--concurrency", "1000000000"], ["--context", "9" * 30],
    ["--concurrency", str(1 << 50)], ["--block-size", "7"], ["--block-size", str(1 << 50)], ["--kv-dtype", "nvfp4"],
    ["--precision", "int4-g9999"], ["--precision", "int4-g0"], ["--precision", "()"], ["--precision", "q4_k_m"],
    ["--kv-bytes", "1"], ["--kv-bytes", str(1 << 50)], ["--offload-gib", "0.5"], ["--offload-gib", "1e14"],
    ["--offload-gib", "1e300"], ["--max-num-seqs", str(1 << 50)], ["--max-num-batched-tokens", str(1 << 50)],
    ["--max-num-batched-tokens", "1", "--max-num-seqs", "100000"], ["--tp", "3"], ["--tp", "4096"], ["--tp", "4097"],
    ["--tp", "2", "--pp", "2", "--dp", "4"], ["--dcp", "2", "--tp", "1"], ["--dcp", "3", "--tp", "8"],
    ["--dcp", "4096", "--tp", "8"], ["--ep", "--tp", "5"], ["--pp", "7"], ["--dp", "7", "--ep"],
    ["--dp-attention", "--dp", "5", "--tp", "8"], ["--dp-attention", "--dp", "16", "--tp", "8"],
    ["--dp-attention", "--pp", "8", "--tp", "1"], ["--trust", "headers"],
]  # fmt: skip


@pytest.mark.parametrize("engine", ["vllm", "vllm@0.6.4", "sglang", "llamacpp"])
@pytest.mark.parametrize("model", [MODEL, MIXED, LATENT])
def test_extreme_and_contradictory_options(model: str, engine: str) -> None:
    for options in EXTREMES:
        ask("fit", model, "--on", "8xH100", "--engine", engine, *options, "--json")
        ask("fit", model, "--on", "8xH100", "--engine", engine, *options)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--tp", "16"], 1),  # more cards than there are
        (["--dcp", "2", "--tp", "1"], 1),
        (["--ep", "--tp", "8"], 1),  # a dense model
        (["--offload-gib", "1000"], 0),  # more than the model: all of it is on the host
        (["--block-size", "7"], 0),
    ],
)
def test_layouts_that_contradict(options: list[str], code: int) -> None:
    assert ask("fit", MODEL, "--on", "8xH100", *options, "--json").code == code


def test_two_fractions_are_one_too_many(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    question = {"model": MODEL, "gpu": "H100", "gpu_memory_utilization": 0.9, "mem_fraction_static": 0.8}
    path.write_text(json.dumps(question))
    assert ask("fit", "--batch", str(path)).code == 2


@pytest.mark.parametrize(
    "version",
    [
        "", "0", "99", "0.99999999999999999999", "v0.11.0", "0.11.0rc1+cu128", "-1", "0..1", "٣.١", "²", " ",
        "9" * 5000, "1" * 100, "0.11.0.dev", "b0", "b99999999999",
    ],
)  # fmt: skip
def test_versions(version: str) -> None:
    for engine in ("vllm", "sglang", "llamacpp"):
        ask("fit", MODEL, "--on", "8xH100", "--engine", f"{engine}@{version}", "--json")


HARDWARE = [
    "", "nodes = 1", "count = 0\naccelerator = 'H100'", "count = 1.5\naccelerator = 'H100'", "accelerator = 1",
    "count = true\naccelerator = 'H100'", "nodes = 99999999999999999999\naccelerator = 'H100'", "[accelerator]",
    "[accelerator]\nlike = 1", "[accelerator]\nlike = 'zzz'", "[accelerator]\nlike = 'H100'\nmemory_bytes = -1",
    "[accelerator]\nlike = 'H100'\nmemory_bytes = 'x'", "[accelerator]\nlike = 'H100'\njunk = 1", "{", "=",
    "[accelerator]\nmemory_bytes = 80000000000\nvendor = 'zzz'", "junk = 1\naccelerator = 'H100'", "a = 1\na = 2",
    "accelerator = 'x.toml'", "accelerator = '2x8xH100'", "[[accelerator]]\nlike = 'H100'", "\0", "[" * 100_000,
    f"a = {'[' * 5000}", "accelerator = {like = 'H100', memory_bytes = 1e400}", f"accelerator = '{RED}'",
]  # fmt: skip


@pytest.mark.parametrize("text", HARDWARE)
def test_own_hardware_that_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, "utf-8")
    refuse("fit", MODEL, "--on", str(path))


def test_a_hardware_file_that_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    for path in tmp_path.iterdir():
        refuse("fit", MODEL, "--on", str(path))


@pytest.mark.parametrize("width", ["0", "1", "20", "9999", "99999", "-1", "x", "²", ""])
def test_any_width(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    for words in (["fit", MODEL, "--on", "8xH100", "--explain"], ["fit", LATENT, "--on", "1xH100"], ["cards", MODEL]):
        lines = ask(*words).out.splitlines()
        assert max(map(len, lines)) <= 120


def terminal(words: list[str], **variables: str) -> bytes:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        stdin=theirs, stdout=theirs, stderr=theirs, env={**environment(), **variables},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert child.wait(timeout=60) == 0
    return shown


def test_colours_are_for_terminals_that_want_them() -> None:
    words = ["fit", MODEL, "--on", "1xH100"]
    assert b"\x1b[" in terminal(words, TERM="xterm-256color")
    assert b"\x1b" not in terminal(words, TERM="xterm-256color", NO_COLOR="1")
    assert b"\x1b" not in terminal(words, TERM="dumb")
    assert b"\x1b" not in terminal([*words, "--json"], TERM="xterm-256color")
    assert "\x1b" not in run_bounded(words).out


def test_an_encoding_without_blocks() -> None:
    for encoding in ("ascii:strict", "latin-1", "cp1252", "utf-8:strict", "utf-16"):
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, "fit", MODEL, "--on", "1xH100"],
            capture_output=True, env=environment() | {"PYTHONIOENCODING": encoding},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b""), encoding
        assert "fits" in done.stdout.decode(encoding.partition(":")[0])


def test_completion_without_its_extra() -> None:
    code = f"import sys; sys.modules['shtab'] = None; {COMMAND}"
    done = subprocess.run([sys.executable, "-c", code, "completion", "bash"], capture_output=True, env=environment())
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == b"error: shtab: not installed: pip install 'tonnage[completion]'\n"
