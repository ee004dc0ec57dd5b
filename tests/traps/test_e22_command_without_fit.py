"""E22: where the answer is no, nothing that looks like a launch is printed."""

from __future__ import annotations

import json

import pytest

from tonnage.ui.cli.main import main

LAUNCHES = ("vllm serve", "sglang.launch_server", "llama-server", "--tensor-parallel-size", "docker run")
NO = ["fit", "meta-llama/Meta-Llama-3.1-405B", "--on", "8xH100", "--tp", "8"]


def test_no_command_in_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(NO) == 1
    shown = capsys.readouterr().out
    assert "does not fit" in shown
    assert not [word for word in LAUNCHES if word in shown]


def test_no_command_in_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NO, "--json"]) == 1
    shown = capsys.readouterr().out
    answer = json.loads(shown)
    assert answer["fits"] is False
    assert "command" not in answer
    assert not [word for word in LAUNCHES if word in shown]


def test_a_no_still_carries_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    main([*NO, "--json"])
    answer = json.loads(capsys.readouterr().out)
    # 811.7 GB / 8 = 94.50 GiB
    assert answer["weights_bytes_per_rank"] == pytest.approx(811_706_777_600 / 8, rel=0.001)
    assert answer["kv_bytes_per_token_per_rank"] == 64_512
    assert "94.5 GiB" in answer["reason"]


def test_a_model_is_not_quietly_quantised(capsys: pytest.CaptureFixture[str]) -> None:
    main([*NO, "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["model"]["quantization"] is None
