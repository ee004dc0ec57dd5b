"""Versions as users, containers and logs write them."""

from __future__ import annotations

import pytest

from tonnage.engines.vllm.version import FIRST, NEWEST, Version, choose_version
from tonnage.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.11.2.dev690", Version(0, 11, 2)),
        ("0.26.1rc1.dev608", Version(0, 26, 1)),
        ("0.11.1rc6.dev211+g934a9c3b7", Version(0, 11, 1)),
        ("0.22", Version(0, 22)),
        ("v0.8.5", Version(0, 8, 5)),
        (" 0.10.1.1 ", Version(0, 10, 1)),
        ("0.6.6.post1", Version(0, 6, 6)),
        ("0.2.7", Version(0, 2, 7)),
        ("0.26.1rc0 fork", Version(0, 26, 1)),
        ("0.19.0+cu130", Version(0, 19)),
        ("0.33.1", Version(0, 33, 1)),
    ],
)
def test_known_forms(text: str, expected: Version) -> None:
    choice = choose_version(text)
    assert choice.version == expected
    assert choice.notes == ()


def test_nothing_asked_is_the_newest() -> None:
    assert choose_version(None).version == NEWEST
    assert choose_version(None).notes == ()


@pytest.mark.parametrize("text", ["0.1.dev20051", "nightly", "latest", "0.1.dev1+gabc", "0.40.0", "1.2", "25.09"])
def test_unknown_newer_ones_get_the_newest_rules_and_a_note(text: str) -> None:
    choice = choose_version(text)
    assert choice.version == NEWEST
    assert text in choice.notes[0]


def test_ancient_ones_get_the_oldest_rules_and_a_note() -> None:
    assert choose_version("0.1.7").version == FIRST
    assert "older" in choose_version("0.1.7").notes[0]


@pytest.mark.parametrize("text", ["", "abc", "11", "dev690", "x0.2"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"0\.29\.0"):
        choose_version(text)


def test_order() -> None:
    assert Version(0, 8, 5) < Version(0, 10) < Version(0, 10, 2) < Version(1, 0)
    assert str(Version(0, 22)) == "0.22.0"
