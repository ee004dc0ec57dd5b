"""Where learnt things are kept."""

from __future__ import annotations

import pytest

from tonnage.seams.data_folder import calibration_path, data_folder


def test_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TONNAGE_DATA", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert data_folder() == "/home/somebody/.local/share/tonnage"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert data_folder() == "/data/tonnage"
    monkeypatch.setenv("TONNAGE_DATA", "/own")
    assert data_folder() == "/own"


def test_earlier_starts_have_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONNAGE_DATA", "/own")
    assert calibration_path() == "/own/calibration.jsonl"
    assert calibration_path("/other") == "/other/calibration.jsonl"
