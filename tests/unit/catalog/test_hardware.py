"""Tests of fleets described in a TOML file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tonnage.catalog.fleet import parse_fleet
from tonnage.catalog.load import Catalog
from tonnage.errors import TonnageError, UnreadableError, UsageError

GIB = 2**30


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The packaged catalogue."""
    return Catalog()


def _write(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_catalogue_name(tmp_path: Path, catalog: Catalog) -> None:
    path = _write(tmp_path, 'nodes = 2\ncount = 4\naccelerator = "L40S"\nhost_memory_bytes = 549755813888  # 512 GiB\n')
    fleet = parse_fleet(path, catalog, host_memory_bytes=1)
    assert (fleet.nodes, fleet.count, fleet.accelerator.id) == (2, 4, "nvidia-l40s-48gb")
    assert fleet.host_memory_bytes == 512 * GIB  # the file wins


def test_card_like_another(tmp_path: Path, catalog: Catalog) -> None:
    path = _write(tmp_path, 'count = 8\n[accelerator]\nlike = "RTX 4090"\nmemory_bytes = 50864390144\n')
    fleet = parse_fleet(path, catalog)
    card = fleet.accelerator
    assert (fleet.count, card.capacity_bytes, card.memory_basis) == (8, 50_864_390_144, "assumed")
    assert (card.target, card.bandwidth_bytes_per_s) == ("sm_89", 1_008_000_000_000)
    assert card.name == "GeForce RTX 4090 (mine)"
    assert not card.is_card_kind
    assert "mine.toml" in fleet.notes[0]


def test_card_of_ones_own(tmp_path: Path, catalog: Catalog) -> None:
    text = '[accelerator]\nname = "Lab card"\nvendor = "amd"\ntarget = "gfx942"\nmemory_bytes = 68702699520\n'
    card = parse_fleet(_write(tmp_path, text + 'link = "pcie5-x16"\n'), catalog).accelerator
    assert (card.id, card.name, card.vendor) == ("mine", "Lab card", "amd")
    assert card.link is not None
    assert card.link.bytes_per_s == 63_000_000_000


def test_host_described_in_a_file(tmp_path: Path, catalog: Catalog) -> None:
    path = _write(tmp_path, f'accelerator = "CPU"\nhost_memory_bytes = {64 * GIB}\n')
    assert parse_fleet(path, catalog).accelerator.capacity_bytes == 64 * GIB


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("count = 8\n", "accelerator = None"),
        ('accelerator = "L4"\ncount = 0\n', "count = 0"),
        ('accelerator = "L4"\ncount = -8\n', "count = -8"),
        ('accelerator = "L4"\ncount = true\n', "count = True"),
        ('accelerator = "L4"\ncount = "8"\n', "count = '8'"),
        ('accelerator = "L4"\nnodes = 1.5\n', "nodes = 1.5"),
        ('accelerator = "L4"\ncards = 8\n', "unknown key cards"),
        ("accelerator = 8\n", "accelerator = 8"),
        ("[accelerator]\nmemory_bytes = 68702699520\n", "vendor is missing"),
        ('[accelerator]\nvendor = "nvidia"\nmemory_bytes = 80\n', "memory_bytes: 80 is outside"),
        ('[accelerator]\nvendor = "nvidia"\nvram = 80\n', "unknown key 'vram'"),
        ('[accelerator]\nvendor = "matrox"\n', "'matrox' is none of nvidia"),
        ("[accelerator\n", "valid TOML"),
        ("", "accelerator = None"),
    ],
)
def test_unreadable(tmp_path: Path, catalog: Catalog, text: str, match: str) -> None:
    with pytest.raises(UnreadableError, match=match) as caught:
        parse_fleet(_write(tmp_path, text), catalog)
    assert "mine.toml" in caught.value.line


def test_unknown_names_and_absurd_counts(tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(UsageError, match="nearest"):
        parse_fleet(_write(tmp_path, 'accelerator = "MI399X"\n'), catalog)
    with pytest.raises(UsageError, match="5000 cards a node"):
        parse_fleet(_write(tmp_path, 'accelerator = "L4"\ncount = 5000\n'), catalog)
    with pytest.raises(UsageError, match="accelerator"):
        parse_fleet(_write(tmp_path, "[accelerator]\nlike = 4090.5\n"), catalog)


def test_missing_and_binary_files(tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(UnreadableError, match=r"absent\.toml"):
        parse_fleet(str(tmp_path / "absent.toml"), catalog)
    (tmp_path / "binary.toml").write_bytes(b'accelerator = "\xff\xfe"')
    with pytest.raises(UnreadableError, match="byte 15 is not UTF-8"):
        parse_fleet(str(tmp_path / "binary.toml"), catalog)
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(TonnageError, match=r"folder\.toml"):
        parse_fleet(str(tmp_path / "folder.toml"), catalog)
