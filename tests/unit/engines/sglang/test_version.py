from __future__ import annotations

import pytest

from tonnage.engines.sglang.version import FIRST, NEWEST, Version, choose_version
from tonnage.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.4.6", Version(0, 4, 6)),
        ("0.4.6.post5", Version(0, 4, 6)),
        ("0.5.3rc1", Version(0, 5, 3)),
        ("v0.5.10", Version(0, 5, 10)),
        ("0.4.8.post1-rocm630", Version(0, 4, 8)),
        ("lmsysorg/sglang v0.5.8-rocm700-mi35x", Version(0, 5, 8)),
        ("rocm/sgl-dev v0.5.8.post1-rocm720-mi35x-20260218", Version(0, 5, 8)),
        ("sglang-rocm v0.5.17-rocm720-mi35x-20260812", Version(0, 5, 17)),
    ],
)
def test_releases_in_texts(text: str, expected: Version) -> None:
    choice = choose_version(text)
    assert choice.version == expected
    assert choice.notes == ()


def test_no_version_is_the_newest() -> None:
    assert choose_version(None).version == NEWEST
    assert choose_version(None).notes == ()


@pytest.mark.parametrize(
    "text", ["sglang commit 3d35b45f7", "0.0.0.dev1+ga4cf2ea12", "nightly-dev-20260706", "SGLang + kt-kernel", "latest"]
)
def test_builds_without_a_number_get_the_newest_rules_and_a_note(text: str) -> None:
    choice = choose_version(text)
    assert choice.version == NEWEST
    assert text in choice.notes[0]


def test_an_image_named_after_a_model_is_a_snapshot() -> None:
    choice = choose_version("lmsysorg/sglang deepseek-v4-hopper")
    assert choice.version == Version(0, 5, 13)
    assert "about 0.5.13" in choice.notes[0]


def test_newer_and_older_ones_get_a_note() -> None:
    newer, older = choose_version("0.6.1"), choose_version("0.3.0")
    assert (newer.version, older.version) == (NEWEST, FIRST)
    assert "newer" in newer.notes[0]
    assert "older" in older.notes[0]


def test_anything_else_is_refused() -> None:
    with pytest.raises(UsageError, match="banana"):
        choose_version("banana")


def test_versions_are_ordered_and_printed() -> None:
    assert Version(0, 4, 9) < Version(0, 5, 0) < Version(0, 5, 10)
    assert str(Version(0, 5, 23)) == "0.5.23"
