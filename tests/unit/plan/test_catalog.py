"""Tables and models under one roof."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tonnage.errors import UsageError
from tonnage.plan.catalog import KINDS, add_kind, check_all, list_kind, show_kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_rows(kind: str) -> None:
    found = list_kind(kind, "")
    assert found["kind"] == kind
    assert len(found["rows"]) > 5
    assert all(row["id"] for row in found["rows"])


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        (None, "MI355X", "amd-mi355x-288gb"),
        (None, "Kimi-K3", "moonshotai/Kimi-K3"),
        (None, "Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("models", "qwen3-8b", "Qwen/Qwen3-8B"),
        ("accelerators", "H200", "nvidia-h200-sxm-141gb"),
    ],
)
def test_show(kind: str | None, name: str, found: str) -> None:
    assert show_kind(kind, name)["id"] == found


@pytest.mark.parametrize(
    ("kind", "name", "thing"),
    [(None, "no such thing", "accelerator"), (None, "no/thing", "model"), ("models", "MI355X", "model"),
     ("accelerators", "Kimi-K3", "accelerator"), ("links", "x", "links")],
)  # fmt: skip
def test_unknown(kind: str | None, name: str, thing: str) -> None:
    with pytest.raises(UsageError) as error:
        show_kind(kind, name)
    assert error.value.thing == thing


def test_check() -> None:
    assert check_all() == {"problems": []}


def test_add_a_row_of_each(tmp_path: Path) -> None:
    link = show_kind("links", list_kind("links", "")["rows"][0]["id"]) | {"id": "mine"}
    assert add_kind("links", link) == {"kind": "links", "added": "mine", "folder": str(tmp_path / "catalog")}
    origin = {"source": "https://example.org", "seen": "2026-11-30", "basis": "derived"}
    model = {"id": "me/mine", "arch": show_kind(None, "Qwen/Qwen3-8B")["arch"], **origin}
    assert add_kind("models", model)["added"] == "me/mine"
    names = [path.name for path in (tmp_path / "catalog").iterdir()]
    assert sorted(names) == ["links.jsonl", "models.jsonl"]
    assert json.loads((tmp_path / "catalog" / "links.jsonl").read_text())["id"] == "mine"
