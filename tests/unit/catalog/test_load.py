"""Tests of reading packaged and own rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tonnage.catalog.find import find_accelerator
from tonnage.catalog.load import Catalog, read_jsonl, read_text, read_toml
from tonnage.catalog.names import build_index, fold, list_spellings
from tonnage.catalog.schema import KINDS
from tonnage.errors import UnreadableError, UsageError

CARD = {
    "id": "lab-card-40gb",
    "name": "Lab card",
    "aliases": ["lab"],
    "vendor": "nvidia",
    "segment": "modified",
    "memory_bytes": 42_000_000_000,
    "memory_basis": "measured",
    "basis": "measured",
    "source": ["our own bench"],
    "seen": "2026-12-01",
}


def _overlay(folder: Path, *rows: dict[str, object]) -> Catalog:
    (folder / "accelerators.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Catalog(folder)


def test_packaged_rows_are_complete() -> None:
    catalog = Catalog()
    assert {kind: len(catalog.rows(kind)) for kind in KINDS} == {
        "accelerators": 106,
        "nodes": 16,
        "links": 29,
        "prices": 139,
    }
    assert len(catalog.accelerators()) == 106


def test_rows_are_read_once() -> None:
    catalog = Catalog()
    assert catalog.rows("nodes") is catalog.rows("nodes")
    assert catalog.index is catalog.index
    assert catalog.links is catalog.links


def test_exact_id_only() -> None:
    with pytest.raises(UsageError, match="H100"):
        Catalog().accelerator("H100")


def test_overlay_adds_a_card(tmp_path: Path) -> None:
    card = find_accelerator(_overlay(tmp_path, CARD), "LAB")
    assert (card.id, card.capacity_bytes) == ("lab-card-40gb", 42_000_000_000)
    assert card.sources == ("our own bench",)


def test_overlay_replaces_a_row_of_the_same_id(tmp_path: Path) -> None:
    catalog = _overlay(tmp_path, {**CARD, "id": "nvidia-l4-24gb", "name": "L4 of ours", "aliases": ["L4"]})
    assert len(catalog.rows("accelerators")) == 106
    assert find_accelerator(catalog, "L4").capacity_bytes == 42_000_000_000


def test_overlay_name_that_collides_is_ambiguous(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nvidia-l4-24gb, lab-card-40gb"):
        find_accelerator(_overlay(tmp_path, {**CARD, "aliases": ["L4"]}), "L4")


def test_overlay_in_toml(tmp_path: Path) -> None:
    text = """
[[prices]]
id = "my-power"
kind = "electricity"
item = "electricity"
value = 0.21
unit = "USD/kWh"
currency = "USD"
from = 2026-01-01
basis = "measured"
source = ["invoice of January"]
seen = 2026-02-01
"""
    (tmp_path / "prices.toml").write_text(text, encoding="utf-8")
    price = {price.id: price for price in Catalog(tmp_path).prices()}["my-power"]
    assert (price.value, price.since, price.seen) == (0.21, "2026-01-01", "2026-02-01")


def test_missing_overlay_is_empty(tmp_path: Path) -> None:
    assert len(Catalog(tmp_path / "nowhere").rows("accelerators")) == 106


def test_overlay_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UnreadableError, match="a folder of your own rows"):
        Catalog(tmp_path / "file").rows("nodes")


def test_byte_order_mark_and_blank_lines_are_fine(tmp_path: Path) -> None:
    (tmp_path / "accelerators.jsonl").write_bytes(b"\xef\xbb\xbf\r\n" + json.dumps(CARD).encode() + b"\r\n\r\n")
    assert "lab-card-40gb" in Catalog(tmp_path).rows("accelerators")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b'{"id": "\xff"}', "not UTF-8"),
        (b"{", r"accelerators\.jsonl:1"),
        (b"\n\n[1, 2]\n", r"accelerators\.jsonl:3: list"),
        (b"null\n", "NoneType"),
        (b"{}\n", "row 1: id is missing"),
        (b'{"id": 5}\n', "5 is not a non-empty text"),
        (b"[" * 100_000, "one JSON object a line"),
        (json.dumps({**CARD, "memory_bytes": "80"}).encode(), "'80' is not an integer"),
        (json.dumps({**CARD, "memory_bytes": float("nan")}).encode(), "nan is not an integer"),
        (json.dumps({**CARD, "memory_gb": 80}).encode(), "unknown key 'memory_gb'"),
        (json.dumps({k: v for k, v in CARD.items() if k != "source"}).encode(), "source is missing"),
        (json.dumps({**CARD, "source": []}).encode(), "source"),
        ((json.dumps(CARD) + "\n" + json.dumps(CARD)).encode(), "id appears twice"),
    ],
)
def test_bad_overlay_names_the_file(tmp_path: Path, content: bytes, match: str) -> None:
    (tmp_path / "accelerators.jsonl").write_bytes(content)
    with pytest.raises(UnreadableError, match=match) as caught:
        Catalog(tmp_path).rows("accelerators")
    assert "accelerators.jsonl" in caught.value.line


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[[accelerators", "valid TOML"),
        ("[[nodes]]\nid = 'x'\n", "nodes"),
        ("accelerators = 5\n", r"tables \[\[accelerators\]\] only"),
        ("accelerators = [5]\n", r"tables \[\[accelerators\]\] only"),
        ("[[accelerators]]\nid = 'x'\n", "name is missing"),
    ],
)
def test_bad_toml_overlay(tmp_path: Path, text: str, match: str) -> None:
    (tmp_path / "accelerators.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError, match=match):
        Catalog(tmp_path).rows("accelerators")


def test_readers_refuse_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="absent"):
        list(read_jsonl(str(tmp_path / "absent.jsonl")))
    with pytest.raises(UnreadableError, match="absent"):
        read_toml(str(tmp_path / "absent.toml"))
    with pytest.raises(UnreadableError, match="null byte"):
        read_toml("a\0.toml")


def test_readers_take_no_pipe_and_no_flood(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(UnreadableError, match="not a regular file"):
        read_toml(str(tmp_path / "pipe.toml"))
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(1 << 40)  # a hole, no disk
    with pytest.raises(UnreadableError, match="64 MiB"):
        read_toml(str(tmp_path / "large.toml"))


def test_one_look_up_loads_no_more_than_it_needs() -> None:
    code = (
        "import sys\n"
        "from tonnage.catalog.fleet import parse_fleet\n"
        "from tonnage.catalog.load import Catalog\n"
        "parse_fleet('8xMI300X', Catalog())\n"
        "lazy = {'check', 'problem', 'schema', 'price', 'node', 'anonymous', 'hardware', 'rows', 'add'}\n"
        "print(sorted(n for n in lazy if f'tonnage.catalog.{n}' in sys.modules), 'difflib' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] False"


def test_one_name_is_found_as_in_the_index_of_all() -> None:
    # Each spelling, and what people make of it; the names of the first catalogue are never all read.
    index = build_index(Catalog().rows("accelerators").values())
    one_by_one = Catalog()
    for row in Catalog().rows("accelerators").values():
        for name in list_spellings(row):
            for text in (name, name.upper(), f"NVIDIA {name}", f"{name} GPU", name.replace(" ", "-"), f"8x{name}"):
                meant = index.get(fold(text), ())
                if len(meant) > 1:
                    with pytest.raises(UsageError, match="ambiguous"):
                        one_by_one.look_up(text)
                else:
                    assert one_by_one.look_up(text) == (meant[0] if meant else None)


def test_a_row_by_a_key() -> None:
    catalog = Catalog()
    row = catalog.row("nodes", "accelerator", "nvidia-h100-sxm-80gb")
    assert row == next(r for r in catalog.rows("nodes").values() if r["accelerator"] == "nvidia-h100-sxm-80gb")
    assert catalog.row("nodes", "accelerator", "nvidia-h100-sxm-80gb") == row
    assert catalog.row("links", "id", "no such link") is None


def test_rows_of_an_overlay_are_found_too(tmp_path: Path) -> None:
    text = 'id = "own-1"\nname = "Own One"\nvendor = "amd"\nsegment = "modified"\nbasis = "assumed"\n'
    (tmp_path / "accelerators.toml").write_text(f'[[accelerators]]\n{text}source = ["mine"]\nseen = "2026"\n')
    catalog = Catalog(tmp_path)
    assert catalog.look_up("own one") == "own-1"
    assert catalog.accelerator("own-1").name == "Own One"


def test_lines_end_as_they_like(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert read_text(str(tmp_path / "a.txt")) == "one\ntwo\n"
