"""A planner that answers from a record instead of computing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tonnage.errors import UsageError

Planner = Callable[[dict[str, Any]], list[Any]]


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> Planner:
    """Put `answer` in place of the planner; returns the list of questions that it was asked."""

    def install(answer: dict[str, Any]) -> list[Any]:
        asked: list[Any] = []

        def answer_question(question: Any, with_remedies: bool = True) -> dict[str, Any]:
            asked.append((question, with_remedies))
            if question.model == "nobody/knows":
                raise UsageError("model", "nobody/knows", "an id of the catalogue")
            if question.model == "breaks":
                raise KeyError("layers")
            return answer | {"id": question.id}

        def list_cards(question: Any) -> dict[str, Any]:
            asked.append((question, True))
            return answer

        for name, function in (("fit", answer_question), ("cards", list_cards)):
            module = ModuleType(f"tonnage.plan.{name}")
            setattr(module, function.__name__, function)
            monkeypatch.setitem(sys.modules, module.__name__, module)
        return asked

    return install
