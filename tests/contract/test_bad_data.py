"""Batches, logs, predictions, own catalogue rows and calibrations that are broken or something else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from outcome import COMMAND, Outcome, ask, refuse, run_bounded, strict
from process import environment

from tonnage.plan.question import Question
from tonnage.value import fields

QUESTION = {"model": "Qwen/Qwen3-8B", "gpu": "H100"}
LINE = json.dumps(QUESTION).encode()
LOG = """\
INFO 05-01 10:00:00 [api_server.py:1] vLLM API server version 0.9.0
INFO 05-01 10:00:09 [gpu_model_runner.py:1] Model loading took 14.9889 GiB and 3.2 seconds
INFO 05-01 10:00:19 [kv_cache_utils.py:1] GPU KV cache size: 100,000 tokens
INFO 05-01 10:00:19 [kv_cache_utils.py:1] Maximum concurrency for 8,192 tokens per request: 12.21x
"""


def answers(outcome: Outcome) -> list[dict[str, Any]]:
    """The lines of a batch, each an answer or an error with its code."""
    records = [strict(line) for line in outcome.out.splitlines()]
    for record in records:
        assert "id" in record
        assert "internal fault" not in record.get("error", "")
        if "error" in record:
            assert record["error"].count(": ") >= 2
            assert record["error"].isprintable()
        else:
            assert record["verdict"]
    return records


def batch(tmp_path: Path, data: bytes) -> list[dict[str, Any]]:
    """The answers to a file of questions."""
    (tmp_path / "questions.jsonl").write_bytes(data)
    return answers(ask("fit", "--batch", str(tmp_path / "questions.jsonl"), "--json"))


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"", []),
        (b"\n \r\n\n", []),
        (b"\xef\xbb\xbf" + LINE, [None]),
        (LINE + b"\r\n" + LINE + b"\r\n", [None, None]),
        (b"\n" + LINE + b"\n\nx\n" + LINE, [None, 2, None]),
        (b'[]\n1\nnull\ntrue\n"x"\n{}\nNaN\n\0\n\xff\n{', [2] * 10),
        (b"\0" * 1000 + b"\n" + LINE, [2, None]),
        ("\ufeff".encode("utf-16-le") + LINE.decode().encode("utf-16-le"), [2]),
        (LINE[:-1] + b', "gpu": "H200"}', [2]),
        (LINE[:-1] + b', "junk": 1}', [2]),
        (b"[" * 1_000_000, [2]),
        (b'{"a": [' + b"[]," * 300_000 + b"1]}", [2]),
    ],
    ids=range(12),
)
def test_lines_of_a_batch(data: bytes, codes: list[int | None], tmp_path: Path) -> None:
    assert [record.get("code") for record in batch(tmp_path, data)] == codes


@pytest.mark.parametrize(
    "given", [1, 1.5, "x", "", True, False, [1, {"a": 2}], {"a": [1]}, 10**400, "\ud800", -0.0, 1e308]
)
def test_an_id_comes_back_as_it_was_given(given: object, tmp_path: Path) -> None:
    (found,) = batch(tmp_path, json.dumps({**QUESTION, "id": given}).encode())
    assert repr(found["id"]) == repr(given)


@pytest.mark.parametrize("given", [b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 5000])
def test_an_id_that_is_no_json_is_an_error(given: bytes, tmp_path: Path) -> None:
    (found,) = batch(tmp_path, b'{"id": %s, %s' % (given, LINE[1:]))
    assert (found["id"], found["code"]) == (None, 2)


ODD: list[Any] = [
    0, 1, -1, 1.5, 1e15, 10**30, "", "x", "8", True, [], {}, [1], "\x1b[31m\n", "\ud800", "x" * 1000, "a\0b", 1 << 50,
]  # fmt: skip


def test_every_field_with_every_kind_of_value(tmp_path: Path) -> None:
    lines = [
        {**QUESTION, "engine": engine, name: value}
        for engine in ("vllm", "sglang", "llamacpp")
        for name in fields(Question)
        for value in ODD
    ]
    found = batch(tmp_path, "\n".join(map(json.dumps, lines)).encode())
    assert len(found) == len(lines)


def test_a_line_of_ten_megabytes() -> None:
    for filler in (b"x" * 10**7, b'{"model": "%s"}' % (b"x" * 10**7)):
        outcome = run_bounded(["fit", "--batch", "-"], filler + b"\n" + LINE)
        assert [record.get("code") for record in answers(outcome)] == [2, None]


def test_many_lines(tmp_path: Path) -> None:
    # all but one of 100,000 are refused at once, for the sake of the test's time
    (tmp_path / "questions.jsonl").write_bytes(b'{"tp": 0}\n' * 99_999 + LINE)
    outcome = run_bounded(["fit", "--batch", str(tmp_path / "questions.jsonl")])
    assert outcome.out.count("\n") == 100_000
    assert strict(outcome.out.splitlines()[-1])["fits"] is True


@pytest.mark.parametrize("path", ["absent", ".", "a\0b", "/dev/zero", "/dev/urandom"])
def test_no_file(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").write_text(LOG)
    for words in (["fit", "--batch", path], ["receipt", path], ["receipt", "log", path]):
        outcome = ask(*words)
        assert outcome.code == 2
        assert outcome.err.count("\n") == 1
    refuse("receipt", "log", "--against", path)


def shell(line: str) -> tuple[int, bytes, bytes]:
    """Exit code and streams of a shell line in which `tonnage` is the command."""
    words = f'tonnage() {{ "{sys.executable}" -c "{COMMAND}" "$@"; }}\n{line}'
    done = subprocess.run(["bash", "-c", words], capture_output=True, env=environment(), timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", ["fit --batch -", "receipt -"])
def test_standard_input_is_closed(words: str) -> None:
    code, out, error = shell(f"tonnage {words} <&-")
    assert (code, out) == (2, b"")
    assert error.startswith(b"error: standard input: closed: ")
    code, out, error = shell(f"tonnage {words} </dev/zero")
    assert (code, out) == (2, b"")
    assert error.startswith(b"error: standard input: a device: ")


def test_a_pipe_of_questions() -> None:
    code, out, error = shell(f"tonnage fit --batch <(echo '{LINE.decode()}')")
    assert (code, error) == (0, b"")
    assert json.loads(out)["fits"] is True


def test_a_reader_that_leaves_early() -> None:
    questions = f"yes '{LINE.decode()}' | head -5000"
    code, out, error = shell(f"{questions} | tonnage fit --batch - | head -1; exit ${{PIPESTATUS[2]}}")
    assert (code, error) == (141, b"")
    assert json.loads(out)["fits"] is True


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("fit Qwen/Qwen3-8B --on 1xH100", 0),
        ("fit Qwen/Qwen3-8B --on 1xH100 --json", 0),
        ("fit Qwen/Qwen3-235B-A22B --on 1xH100 --json", 1),
        ("fit nobody/knows --on 1xH100", 2),
        ("fit nobody/knows --on 1xH100 --json", 2),
        ("--help", 0),
    ],
)
def test_output_that_nobody_takes(words: str, code: int) -> None:
    assert shell(f"tonnage {words} >&-")[0] == code
    assert shell(f"tonnage {words} >&- 2>&-") == (code, b"", b"")
    assert shell(f"tonnage {words} 2>&-")[0] == code
    full, _, error = shell(f"tonnage {words} >/dev/full")
    assert full in (code, 3)
    assert error.count(b"\n") <= 1
    assert shell(f"tonnage {words} >/dev/full 2>/dev/full")[0] in (code, 3)


LOGS = [
    b"", b"\n", bytes(100_000), os.urandom(100_000), b"\xff\xfe", b"\xfe\xff\xd8", b"hello\nworld", b"x" * 3_000_000,
    b"INFO text_generation_launcher: Server started", b"[TensorRT-LLM][INFO] loading took 1 GiB", b"1 GiB " * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("data", LOGS, ids=range(len(LOGS)))
def test_logs_without_figures(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(data)
    assert refuse("receipt", str(tmp_path / "log")).startswith("log: no line with a memory figure: ")


@pytest.mark.parametrize("old", ["14.9889", "100,000", "8,192", "12.21", "0.9.0"])
@pytest.mark.parametrize("new", ["9" * 5000, "nan", "1e400", "-1", "0", "", ",,,", "1.2.3", "٣", "\x1b[31m"])
def test_logs_with_damaged_figures(old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG.replace(old, new), "utf-8")
    ask("receipt", str(tmp_path / "log"))
    ask("receipt", str(tmp_path / "log"), "--json")


def test_a_large_log(tmp_path: Path) -> None:
    serving = "INFO 05-01 10:00:59 [loggers.py:1] Engine 000: Avg prompt throughput: 12.3 tokens/s, Running: 1 reqs\n"
    with (tmp_path / "log").open("w") as file:
        file.write(LOG)
        for _ in range(200):
            file.write(serving * 10_000)  # 1 MB
    outcome = run_bounded(["receipt", str(tmp_path / "log"), "--json"])
    assert outcome.record["kv_cache_tokens"] == 100_000


def test_a_log_without_end(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file:
        file.truncate(1 << 40)  # a hole, no disk
    assert "while it started" in run_bounded(["receipt", str(tmp_path / "log")]).err


PLANS = [
    "", "{", "[]", "NaN", "null", '{"ranks": 1}', '{"ranks": [1], "busiest_rank": 0}',
    '{"lines": [{"name": "weights"}]}',
    '{"lines": [{"name": "weights", "bytes": 1e400}]}', '{"lines": [{"name": [], "bytes": 1}]}', '{"tp": "x"}',
    '{"ranks": [{"rank": []}], "busiest_rank": []}', '{"lines": [], "kv_cache_tokens": "x"}', '{"junk": 1}',
    '{"ranks": [], "fleet": 1}', '{"ranks": [], "model": {"family": {}}}', '{"model": "nobody/knows", "gpu": "H100"}',
]  # fmt: skip


@pytest.mark.parametrize("text", PLANS)
def test_predictions_that_are_none(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_DATA", str(tmp_path / "data"))
    (tmp_path / "log").write_text(LOG)
    (tmp_path / "plan.json").write_text(text)
    for options in ([], ["--save"]):
        ask("receipt", str(tmp_path / "log"), "--against", str(tmp_path / "plan.json"), *options)
    ask("receipt", str(tmp_path / "log"), "--against", str(tmp_path / "plan.json"), "--json")
    assert not (tmp_path / "data").exists()


ROWS = [
    "", "{", "[]", "1", "null", "{}", '{"id": 1}', '{"id": ""}', '{"id": ["a"]}', '{"id": "a", "id": "b"}',
    "[" * 100_000,
    '{"id": "x", "name": "y"}', '{"id": NaN}', '{"id": "\\ud800"}', "\udcff", '{"id": "\x1b[31m"}', '{"id": {"a": 1}}',
    f'{{"id": "{"x" * 100_000}"}}', f'{{"id": "a", "memory_bytes": {"9" * 4000}}}',
    '{"id": "a", "memory_bytes": 1e400}',
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_own_rows_that_are_none(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_CATALOG", str(tmp_path / "own"))
    for kind in ("accelerators", "nodes", "links", "prices", "models"):
        refuse("catalog", "add", kind, row)
    assert not (tmp_path / "own").exists()


FILES = [
    b"{", b"[]\n", b"{}\n", b"\xff", b"\0", b"[" * 100_000, b"a = " + b"[" * 100_000, b'{"id": ["a"]}', b"[[%s]]",
    b"%s = 1",
    b"[[%s]]\nid = ['a']", b"[[%s]]\nid = 1979-05-27T07:32:00Z", b"[[%s]]\nid = 'a'\nname = inf",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["accelerators", "nodes", "links", "prices"])
@pytest.mark.parametrize("ending", ["jsonl", "toml"])
def test_own_files_that_are_broken(kind: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_CATALOG", str(tmp_path))
    for data in FILES:
        (tmp_path / f"{kind}.{ending}").write_bytes(data.replace(b"%s", kind.encode()))
        refuse("catalog", "list", kind)
        refuse("catalog", "check")
    (tmp_path / f"{kind}.{ending}").unlink()
    for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to(path)):
        path = tmp_path / f"{kind}.{ending}"
        make(path)
        refuse("catalog", "list", kind)
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_whole_question_with_a_broken_overlay(tmp_path: Path) -> None:
    (tmp_path / "accelerators.toml").write_text("[[accelerators]]\nid = 'x'\n")
    for words in (["fit", "Qwen/Qwen3-8B", "--on", "1xH100", "--json"], ["cards", "Qwen/Qwen3-8B", "--json"]):
        outcome = run_bounded(words, TONNAGE_CATALOG=str(tmp_path))
        assert outcome.record["error"].startswith(f"{tmp_path}/accelerators.toml: x: name is missing: ")
    (tmp_path / "accelerators.toml").unlink()
    (tmp_path / "models.jsonl").write_text('{"id":"own/x","aliases":[],"arch":' + "[" * 100_000)
    for words in (["fit", "own/x", "--on", "1xH100"], ["catalog", "check"], ["catalog", "list", "models"]):
        assert run_bounded(words, TONNAGE_CATALOG=str(tmp_path)).code == 2
    (tmp_path / "models.jsonl").unlink()
    os.mkfifo(tmp_path / "models.jsonl")
    assert run_bounded(["fit", "Qwen/Qwen3-8B", "--on", "1xH100"], TONNAGE_CATALOG=str(tmp_path)).code == 2


@pytest.mark.parametrize("place", ["/dev/null", "/nothing/here", "/etc/passwd", "", "x" * 5000])
def test_overlay_folders_that_are_none(place: str) -> None:
    assert run_bounded(["fit", "Qwen/Qwen3-8B", "--on", "1xH100", "--json"], TONNAGE_CATALOG=place).code == 0
    assert run_bounded(["catalog", "check", "--json"], TONNAGE_CATALOG=place).code == 0


@pytest.mark.parametrize("text", ["{", "[]", "1", "[" * 100_000, '{"engine": 1}', "\0"])
def test_what_was_learnt_is_broken(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_DATA", str(tmp_path))
    (tmp_path / "calibration.jsonl").write_text(text)
    assert "calibration.jsonl" in refuse("fit", "Qwen/Qwen3-8B", "--on", "1xH100")
