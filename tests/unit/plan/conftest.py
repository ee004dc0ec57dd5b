"""A planner that knows nothing of the machine the tests run on."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def empty_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No calibration from earlier starts, no rows of the user."""
    monkeypatch.setenv("TONNAGE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("TONNAGE_CATALOG", str(tmp_path / "catalog"))
