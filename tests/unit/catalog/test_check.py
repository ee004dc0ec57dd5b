"""Tests of the check of a whole catalogue, and of the packaged one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tonnage.catalog.check import check_catalog, describe_problems
from tonnage.catalog.load import Catalog
from tonnage.catalog.problem import Problem

ORIGIN: dict[str, Any] = {"basis": "measured", "source": ["invoice 17"], "seen": "2026-11-30"}


def test_packaged_rows_pass() -> None:
    assert describe_problems(check_catalog(Catalog())) == []


def test_problems_are_described_one_a_line() -> None:
    assert describe_problems([Problem("links", "wire", "topology is missing")]) == ["links: wire: topology is missing"]


def test_references_and_names_of_an_overlay(tmp_path: Path) -> None:
    card = {"id": "a", "name": "A", "vendor": "amd", "segment": "datacenter", "link": "wormhole", "aliases": ["MI300X"]}
    node = {"id": "n", "name": "N", "accelerator": "absent", "cards": 8, "cards_per_host": 8, "scale_up_domain": 8}
    card.update(ORIGIN)
    node.update(ORIGIN)
    (tmp_path / "accelerators.jsonl").write_text(json.dumps(card), encoding="utf-8")
    (tmp_path / "nodes.jsonl").write_text(json.dumps(node), encoding="utf-8")
    assert describe_problems(check_catalog(Catalog(tmp_path))) == [
        "accelerators: a: name 'mi300x' also belongs to amd-mi300x-192gb",
        "accelerators: a: link 'wormhole' is not a link",
        "nodes: n: accelerator 'absent' is not in the catalogue",
    ]


def test_every_packaged_card_has_a_capacity_or_is_known_to_lack_one() -> None:
    without = {row["id"] for row in Catalog().rows("accelerators").values() if "memory_bytes" not in row}
    assert without == {"nvidia-rubin-288gb", "amd-mi350p", "amd-mi455x-432gb", "huawei-ascend-950dt", "cpu"}


def test_every_evidence_card_is_in_the_catalogue(shared: Path) -> None:
    lines = (shared / "evidence" / "accelerators.jsonl").read_text(encoding="utf-8").splitlines()
    ids = {json.loads(line)["id"] for line in lines}
    # The two-die cards are listed by die.
    renamed = {"amd-mi250x-128gb", "amd-mi250-128gb"}
    assert len(ids) == 52
    assert ids - renamed <= set(Catalog().rows("accelerators"))
