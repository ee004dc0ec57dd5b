"""Files of this machine."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from tonnage.errors import UnreadableError, WorldError
from tonnage.seams import files


def test_ranges_sizes_and_listing(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(bytes(range(10)))
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "sub").mkdir()
    path = str(tmp_path / "b")
    assert files.file_size(path) == 10
    assert files.read_range(path, 3, 4) == bytes([3, 4, 5, 6])
    assert files.read_range(path, 8, 4) == bytes([8, 9])
    assert files.read_range(path, 20, 4) == b""
    assert files.list_files(str(tmp_path)) == ("a", "b")
    assert files.is_folder(str(tmp_path))
    assert not files.is_folder(path)


def test_links_are_followed_and_dangling_ones_left_out(tmp_path: Path) -> None:
    # the Hub's cache is a folder of links
    (tmp_path / "blob").write_bytes(b"12")
    (tmp_path / "link").symlink_to(tmp_path / "blob")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    assert files.list_files(str(tmp_path)) == ("blob", "link")
    assert files.file_size(str(tmp_path / "link")) == 2
    with pytest.raises(UnreadableError, match="No such file"):
        files.file_size(str(tmp_path / "gone"))


@pytest.mark.parametrize("name", ["nothing", "x" * 5000, "a\0b", "sub/nothing", "\ud800"])
def test_paths_that_lead_nowhere_end_in_one_line(tmp_path: Path, name: str) -> None:
    path = f"{tmp_path}/{name}"
    for read in (files.file_size, files.is_folder, files.list_files, lambda where: files.read_range(where, 0, 1)):
        with pytest.raises(UnreadableError) as caught:
            read(path)
        assert "\n" not in caught.value.line
        assert caught.value.line.isascii()


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path), str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(UnreadableError, match="not a regular file: a file"):
            files.read_range(path, 0, 1)


def test_a_whole_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"1234")
    assert files.read_file(str(tmp_path / "f"), 4) == b"1234"
    with pytest.raises(UnreadableError, match="4 bytes: at most 3"):
        files.read_file(str(tmp_path / "f"), 3)


def test_a_large_file_is_not_read_into_memory(tmp_path: Path) -> None:
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(10**12)
    tracemalloc.start()
    assert files.read_range(str(tmp_path / "sparse"), 10**11, 100) == bytes(100)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_a_folder_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (tmp_path / str(number)).touch()
    monkeypatch.setattr(files, "MAX_LISTED", 3)
    with pytest.raises(UnreadableError, match="more than 3 files: the folder of one model"):
        files.list_files(str(tmp_path))


def test_writing_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    files.write_atomically(str(path), b"old")
    files.write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.toml"]


def test_writing_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    files.write_atomically(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(b"old")

    def fail(number: int) -> None:
        raise OSError(28, "No space left on device", number)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WorldError, match=r"plan\.toml: No space left on device"):
        files.write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.toml"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="a place that can be written"):
        files.write_atomically(str(tmp_path / "no" / "such" / "folder"), b"")
    with pytest.raises(WorldError, match="directory"):
        files.write_atomically(str(tmp_path), b"")
    assert list(tmp_path.parent.glob("*.part")) == []
