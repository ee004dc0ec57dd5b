"""A folder as a store."""

from pathlib import Path

import pytest

from tonnage.errors import UnreadableError
from tonnage.seams.folder import Folder


def test_a_folder_gives_its_files(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    (tmp_path / "sub").mkdir()
    folder = Folder(str(tmp_path))
    assert folder.origin == str(tmp_path)
    assert folder.names() == ("f",)
    assert folder.size("f") == 10
    assert folder.read("f", 2, 3) == b"234"
    assert folder.each(folder.size, ["f", "f"]) == [10, 10]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"nothing\.gguf: No such file"):
        Folder(str(tmp_path)).size("nothing.gguf")
