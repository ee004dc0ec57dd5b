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


@pytest.mark.parametrize("kind", ["accelerators", "nodes", "links", "prices", "models"])
def test_list_of_each_kind_as_text(kind: str, capsys: Capture) -> None:
    assert main(["catalog", "list", "--kind", kind]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(f" {kind}")


def test_show(capsys: Capture) -> None:
    assert main(["catalog", "show", "MI300X"]) == 0
    assert "Instinct MI300X" in capsys.readouterr().out
    assert main(["catalog", "show", "MI300X", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vendor"] == "amd"


@pytest.mark.parametrize("kind", ["models", "model", "MODELS"])
def test_the_kind_as_a_word(kind: str, capsys: Capture) -> None:
    assert main(["catalog", "list", kind, "qwen3.8", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kind"] == "models"
    assert "Qwen/Qwen3.8-2.4T-A95B" in [row["id"] for row in record["rows"]]


def test_a_name_of_two_words(capsys: Capture) -> None:
    assert main(["catalog", "show", "H100", "PCIe", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "nvidia-h100-pcie-80gb"


def test_show_a_model(capsys: Capture) -> None:
    assert main(["catalog", "show", "moonshotai/Kimi-K3"]) == 0
    text = capsys.readouterr().out
    for piece in ("2,779.9 bn total", "104.2 bn active", "24 x latent attention", "27,648 B", "https://", "2026-11-30"):
        assert piece in text
    assert "arch" not in text


def test_add_a_model_and_ask_about_it(capsys: Capture) -> None:
    main(["catalog", "show", "Qwen/Qwen3-0.6B", "--json"])
    arch = json.loads(capsys.readouterr().out)["arch"]
    row = {"id": "me/own", "source": "https://example.org", "seen": "2026-11-30", "basis": "derived", "arch": arch}
    assert main(["catalog", "add", "models", json.dumps(row)]) == 0
    assert main(["catalog", "list", "models", "me/"]) == 0
    assert "me/own" in capsys.readouterr().out
    assert main(["catalog", "check"]) == 0


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
        (["catalog", "show"], "error: NAME: absent: tonnage catalog show [KIND] NAME"),
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
