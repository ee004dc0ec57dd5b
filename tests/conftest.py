"""Fixtures of all tests: the facts kept beside the repository and the switch for tests that start a real engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ask = Callable[..., dict[str, Any]]
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of evidence that lies beside a checkout; the test is skipped where there is none."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no folder 'shared' beside this checkout: evidence is not here")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def ask() -> Ask:
    """The planner: `ask(model, fleet, **fields)` gives the record that the JSON contract describes."""
    from tonnage.plan.fit import answer_question
    from tonnage.plan.question import Question

    def answer(model: str, fleet: str, **fields: Any) -> dict[str, Any]:
        question = Question.from_record({"model": model, "gpu": fleet, **fields})
        return answer_question(question, with_remedies=False)

    return answer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked `real_engine` unless they are asked for."""
    if os.environ.get("TONNAGE_REAL_ENGINE") == "1":
        return
    skip = pytest.mark.skip(reason="starts a real engine: set TONNAGE_REAL_ENGINE=1")
    for item in items:
        if item.get_closest_marker("real_engine"):
            item.add_marker(skip)
