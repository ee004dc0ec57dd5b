"""tonnage catalog, on the packaged rows and an overlay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tonnage.ui.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An overlay folder that does not exist yet."""
    folder = tmp_path / "own"
    monkeypatch.setenv("TONNAGE_CATALOG", str(folder))
    return folder


def test_list_finds_by_text(capsys: Capture) -> None:
    assert main(["catalog", "list", "mi300x", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kind"] == "accelerators"
    assert "Instinct MI300X" in [row["name"] for row in record["rows"]]


@pytest.mark.parametrize("kind", ["accelerators", "nodes", "links", "prices"])
def test_list_of_each_kind_as_text(kind: str, capsys: Capture) -> None:
    assert main(["catalog", "list", "--kind", kind]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(f" {kind}")


def test_show(capsys: Capture) -> None:
    assert main(["catalog", "show", "MI300X"]) == 0
    assert "Instinct MI300X" in capsys.readouterr().out
    assert main(["catalog", "show", "MI300X", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vendor"] == "amd"


def test_check(capsys: Capture) -> None:
    assert main(["catalog", "check"]) == 0
    assert capsys.readouterr().out == "the catalogue is in order\n"


def test_add_and_find_again(overlay: Path, capsys: Capture) -> None:
    main(["catalog", "show", "MI300X", "--json"])
    row = json.loads(capsys.readouterr().out) | {"id": "mine", "name": "Mine 1", "aliases": [], "assumed_aliases": []}
    assert main(["catalog", "add", json.dumps(row), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"kind": "accelerators", "added": "mine", "folder": str(overlay)}
    assert main(["catalog", "show", "mine 1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "mine"


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (["catalog", "show"], "error: NAME: absent: tonnage catalog show NAME"),
        (["catalog", "show", "no such card"], "error: accelerator: "),
        (["catalog", "add", "{"], "error: row: not JSON"),
        (["catalog", "add", '{"id": "x"}'], "error: catalog add accelerators: "),
        (["catalog", "drop"], "error: action: 'drop': one of "),
        (["catalog", "list", "--kind", "toys"], "error: --kind: 'toys': one of "),
    ],
)
def test_wrong_use(words: list[str], start: str, capsys: Capture, overlay: Path) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(start)
    assert not overlay.exists()
