"""Every known published configuration, given as a file, is answered or refused by the key that is not understood."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tonnage.errors import TonnageError

Ask = Callable[..., dict[str, Any]]
NUM_CONFIGS = 140
LEAST_ANSWERED = 132
QUANT = ".hf_quant_config.json"
WORLD = 16


def answer_all(ask: Ask, folder: Path, **fields: Any) -> tuple[dict[str, dict[str, Any]], dict[str, TonnageError]]:
    answers: dict[str, dict[str, Any]] = {}
    refused: dict[str, TonnageError] = {}
    for path in sorted(folder.glob("*.json")):
        if path.name.endswith(QUANT):
            continue
        try:
            answers[path.stem] = ask(str(path), f"{WORLD}xMI355X", **fields)
        except TonnageError as error:
            refused[path.stem] = error
    return answers, refused


def test_answered_or_refused_by_name(ask: Ask, shared: Path) -> None:
    answers, refused = answer_all(ask, shared / "models", max_model_len=1024)
    assert len(answers) + len(refused) == NUM_CONFIGS
    assert len(answers) >= LEAST_ANSWERED, {name: error.line for name, error in refused.items()}
    for name, error in refused.items():
        assert error.thing, name
        assert error.accepted, name


def test_answers_are_whole(ask: Ask, shared: Path) -> None:
    answers, _ = answer_all(ask, shared / "models", max_model_len=1024, engine="vllm")
    for name, answer in answers.items():
        assert answer["model"]["parameters"]["total"] > 10**8, name
        assert answer["model"]["stored_bytes"] > 10**8, name
        if answer["ranks"]:
            assert answer["weights_bytes_per_rank"] > 10**6, name
            assert answer["kv_needed_bytes"] > 0, name


def test_a_file_and_its_catalogue_entry_agree(ask: Ask, shared: Path) -> None:
    # The catalogue knows some encoders and biases that a shortened file does not show: below 0.001 % of the text part.
    answers, _ = answer_all(ask, shared / "models", max_model_len=1024)
    different = {}
    for name, answer in answers.items():
        known = ask(name.replace("__", "/"), f"{WORLD}xMI355X", max_model_len=1024)
        ours, theirs = (found["model"]["parameters"]["text"] for found in (answer, known))
        if abs(ours - theirs) > 1e-5 * theirs:
            different[name] = (ours, theirs)
    assert not different
