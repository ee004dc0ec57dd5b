"""Untrusted text in error lines."""

from tonnage.model.headers.quote import quote


def test_control_characters_and_lone_surrogates_are_escaped() -> None:
    assert quote("a\x1b[31m\nb") == "'a\\x1b[31m\\nb'"
    assert quote("\ud800") == "'\\ud800'"


def test_long_values_are_cut() -> None:
    assert len(quote("x" * 10**6)) <= 83  # 80 characters and three dots
    assert quote([1] * 100).endswith("...")
    assert quote(None) == "None"
