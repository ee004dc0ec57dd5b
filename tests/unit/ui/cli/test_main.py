"""Verbs, help, versions."""

from __future__ import annotations

import json

import pytest

from tonnage import __version__
from tonnage.ui.cli.main import main
from tonnage.ui.cli.verbs import NAMES, load_verb

Capture = pytest.CaptureFixture[str]


def test_version(capsys: Capture) -> None:
    assert main(["version"]) == 0
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tonnage {__version__}\n" * 2
    assert main(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": __version__}


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_lists_the_verbs(words: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert all(name in out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_of_each_verb(name: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert load_verb(name).SUMMARY in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 90


def test_unknown_verb(capsys: Capture) -> None:
    assert main(["fitt"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: VERB: 'fitt': one of ")
    assert "fit" in err


def test_completion(capsys: Capture) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    assert "--kv-dtype" in capsys.readouterr().out
    assert main(["completion", "zsh", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shell"] == "zsh"


def test_completion_without_its_extra(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert main(["completion", "bash"]) == 3
    assert capsys.readouterr().err == "error: shtab: not installed: pip install 'tonnage[completion]'\n"


def test_completion_of_an_unknown_shell(capsys: Capture) -> None:
    assert main(["completion", "fish"]) == 2
    assert capsys.readouterr().err.startswith("error: SHELL: 'fish': one of ")
