"""What users write for a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.errors import UnreadableError, UsageError
from tonnage.seams import hub
from tonnage.seams.fakes import FakeStore
from tonnage.seams.folder import Folder
from tonnage.seams.place import open_place
from tonnage.seams.store import Place


def test_folders_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").touch()
    assert open_place(str(tmp_path)) == Place(Folder(str(tmp_path)))
    assert open_place(f"{tmp_path}/config.json") == Place(Folder(str(tmp_path)), "config.json")
    monkeypatch.chdir(tmp_path)
    assert open_place("config.json") == Place(Folder("."), "config.json")


def test_a_path_where_nothing_is(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file or directory"):
        open_place(str(tmp_path / "nothing"))


@pytest.mark.parametrize(
    ("text", "repo", "revision", "name"),
    [
        ("hf:org/name", "org/name", None, None),
        ("hf:org/Na.me-1_x@v1.0", "org/Na.me-1_x", "v1.0", None),
        ("hf:org/name@refs/pr/7", "org/name", "refs/pr/7", None),
        ("hf:org/name/m-Q4_K_M.gguf", "org/name", None, "m-Q4_K_M.gguf"),
        ("hf:org/name@abc/sub/m-00001-of-00003.gguf", "org/name", "abc", "sub/m-00001-of-00003.gguf"),
        ("hf:org/name@refs/pr/7/m.gguf", "org/name", "refs/pr/7", "m.gguf"),
    ],
)
def test_repositories(
    monkeypatch: pytest.MonkeyPatch, text: str, repo: str, revision: str | None, name: str | None
) -> None:
    store = FakeStore({})
    asked: list[tuple[str, str | None]] = []
    monkeypatch.setattr(hub, "open_hub", lambda *repository: asked.append(repository) or store)
    assert open_place(text) == Place(store, name)
    assert asked == [(repo, revision)]


@pytest.mark.parametrize(
    "text",
    ["hf:", "hf:name", "hf:org/", "hf:org/name@", "hf:org/na me", "hf:a/b/c", "hf:org/../x", "hf:o/n@../x", "hf:o/n\n"],
)
def test_malformed_repositories(text: str) -> None:
    with pytest.raises(UsageError, match="hf:ORG/NAME"):
        open_place(text)
