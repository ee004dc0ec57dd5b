"""tonnage fit: options, codes, JSON, text, batches."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tonnage.ui.cli.main import main

Planner = Callable[[dict[str, Any]], list[Any]]
Capture = pytest.CaptureFixture[str]


def lines_of(text: str) -> list[dict[str, Any]]:
    """The objects of JSON Lines."""
    return [json.loads(line) for line in text.splitlines()]


def test_yes_is_zero_and_no_is_one(planner: Planner, fits: dict[str, Any], too_heavy: dict[str, Any]) -> None:
    planner(fits)
    assert main(["fit", "x", "--on", "8xMI355X"]) == 0
    planner(too_heavy)
    assert main(["fit", "x", "--on", "8xH100"]) == 1


def test_every_option_reaches_the_question(planner: Planner, fits: dict[str, Any]) -> None:
    asked = planner(fits)
    line = (
        "fit --on 2x8xH100 a/b --engine sglang@0.5.9 --tp 8 --pp 2 --dp 1 --ep --dcp 2 --dp-attention --precision fp8"
        " --kv-dtype fp8 --context 131,072 --concurrency 4 --utilization 0.9 --max-num-seqs 64"
        " --max-num-batched-tokens 8192 --block-size 16 --eager --offload-gib 4.5 --kv-bytes 1_000 --trust config"
    )
    assert main(line.split()) == 0
    question, with_remedies = asked[0]
    assert with_remedies
    wanted = {
        "model": "a/b",
        "engine": "sglang",
        "engine_version": "0.5.9",
        "tp": 8,
        "pp": 2,
        "dp": 1,
        "ep": True,
        "dcp": 2,
        "dp_attention": True,
        "quantization": "fp8",
        "kv_cache_dtype": "fp8",
        "max_model_len": 131_072,
        "concurrency": 4,
        "gpu_memory_utilization": 0.9,
        "max_num_seqs": 64,
        "max_num_batched_tokens": 8192,
        "block_size": 16,
        "enforce_eager": True,
        "cpu_offload_gb": 4.5,
        "kv_cache_memory_bytes": 1000,
        "trust": "config",
    }
    assert {name: getattr(question, name) for name in wanted} == wanted


def test_what_is_not_said_stays_the_planners_choice(planner: Planner, fits: dict[str, Any]) -> None:
    asked = planner(fits)
    main(["fit", "a/b", "--on", "1xH100"])
    question, _ = asked[0]
    assert (question.tp, question.ep, question.max_model_len, question.quantization) == (None, None, None, None)


def test_json_is_one_object_and_nothing_else(planner: Planner, fits: dict[str, Any], capsys: Capture) -> None:
    planner(fits)
    assert main(["fit", "x", "--on", "8xMI355X", "--json"]) == 0
    captured = capsys.readouterr()
    assert lines_of(captured.out) == [fits]
    assert captured.err == ""


def test_text_is_plain_in_a_pipe(planner: Planner, fits: dict[str, Any], capsys: Capture) -> None:
    planner(fits)
    main(["fit", "x", "--on", "8xMI355X"])
    out = capsys.readouterr().out
    assert out.startswith("Kimi-K3 fits on 8 x MI355X")
    assert "\x1b" not in out
    assert "weights of rank 0" not in out


def test_explain_adds_the_formulas(planner: Planner, fits: dict[str, Any], capsys: Capture) -> None:
    planner(fits)
    main(["fit", "x", "--on", "8xMI355X", "--explain"])
    assert "weights of rank 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("fit", "error: MODEL: absent: tonnage fit MODEL --on FLEET, or --batch FILE"),
        ("fit a/b", "error: --on: absent: tonnage fit MODEL --on FLEET, or --batch FILE"),
        ("fit nobody/knows --on 1xH100", "error: model: nobody/knows: an id of the catalogue"),
        ("fit a/b --on 1xH100 --tp 0", "error: --tp: '0': a whole number of 1 or more"),
        ("fit a/b --on 1xH100 --tp 1.5", "error: --tp: '1.5': a whole number of 1 or more"),
        ("fit a/b --on 1xH100 --offload-gib nan", "error: --offload-gib: 'nan': a number of 0 or more"),
        ("fit a/b --on 1xH100 --contxt 5", "error: unknown argument: --contxt 5: nearest: --context"),
        ("fit a/b --on", "error: --on: expected one argument: see tonnage fit --help"),
        ("fit --batch /nowhere/q", "error: /nowhere/q: No such file or directory: a file, one JSON object a line"),
    ],
)
def test_wrong_use(words: str, line: str, planner: Planner, fits: dict[str, Any], capsys: Capture) -> None:
    planner(fits)
    assert main(words.split()) == 2
    captured = capsys.readouterr()
    assert captured.err.splitlines()[0].startswith(line)
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""


def test_an_error_with_json_is_an_object_too(planner: Planner, fits: dict[str, Any], capsys: Capture) -> None:
    planner(fits)
    assert main(["fit", "nobody/knows", "--on", "1xH100", "--json"]) == 2
    assert lines_of(capsys.readouterr().out) == [{"error": "model: nobody/knows: an id of the catalogue", "code": 2}]


def test_batch_goes_on_after_broken_lines(
    planner: Planner, fits: dict[str, Any], tmp_path: Path, capsys: Capture
) -> None:
    asked = planner(fits)
    file = tmp_path / "questions.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"id": "a", "model": "x", "gpu": "H100"}\n'
        b'{"id": "b", "model": "nobody/knows", "gpu": "H100"}\n'
        b"\n"
        b"{broken\n" + b"[" * 100_000 + b"\n"
        b"[]\n"
        b"\xff\xfe\n"
        b'{"id": "c", "model": "breaks", "gpu": "H100"}\n'
        b'{"id": "d", "model": "x", "gpu": "H100", "tp": "two"}\n'
        b'{"id": "e", "model": "x", "gpu": "H100", "tp": null}'
    )
    assert main(["fit", "--batch", str(file), "--json"]) == 2
    results = lines_of(capsys.readouterr().out)
    assert [result["id"] for result in results] == ["a", "b", None, None, None, None, "c", "d", "e"]
    assert [result.get("code") for result in results] == [None, 2, 2, 2, 2, 2, 2, 2, None]
    assert results[2]["error"].startswith("line 4: not JSON")
    assert results[4]["error"] == "line 6: list, not an object: one JSON object a line"
    assert not any(with_remedies for _, with_remedies in asked)


def test_batch_from_standard_input_with_defaults(
    planner: Planner, too_heavy: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    asked = planner(too_heavy)
    (tmp_path / "q").write_text('{"id": 1, "model": "x"}\n{"id": 2, "model": "y", "tp": 4}\n')
    with (tmp_path / "q").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["fit", "--batch", "-", "--on", "8xH100", "--tp", "8"]) == 1
    results = lines_of(capsys.readouterr().out)
    assert [(result["id"], result["verdict"]) for result in results] == [(n, "weights-exceed-card") for n in (1, 2)]
    assert [(question.model, question.tp) for question, _ in asked] == [("x", 8), ("y", 4)]


def test_an_empty_batch_is_done(planner: Planner, fits: dict[str, Any], tmp_path: Path, capsys: Capture) -> None:
    planner(fits)
    (tmp_path / "q").write_text("\n\n")
    assert main(["fit", "--batch", str(tmp_path / "q")]) == 0
    assert capsys.readouterr().out == ""
