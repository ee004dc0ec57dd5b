"""The user's own catalogue folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.errors import WorldError
from tonnage.seams.overlay import append_text, find_overlay, overlay_folder


def test_the_variable_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TONNAGE_CATALOG", str(tmp_path / "rows"))
    assert overlay_folder() == tmp_path / "rows"
    assert find_overlay() is None
    (tmp_path / "rows").mkdir()
    assert find_overlay() == tmp_path / "rows"


def test_the_configuration_folder_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TONNAGE_CATALOG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert overlay_folder() == tmp_path / "tonnage" / "catalog"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert overlay_folder() == tmp_path / ".config" / "tonnage" / "catalog"


def test_append_makes_the_folder_and_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "prices.jsonl"
    append_text(path, "{}\n")
    append_text(path, "ü\n")
    assert path.read_text("utf-8") == "{}\nü\n"


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(WorldError, match="TONNAGE_CATALOG"):
        append_text(tmp_path / "a" / "x.jsonl", "{}")
