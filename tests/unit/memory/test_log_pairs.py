"""Pairs of name and value in a line of a log."""

from __future__ import annotations

from tonnage.memory.log_pairs import find_pairs

PAIR = r"(?P<key>[a-z_]+)=(?P<value>'[^']*'|[^,]*)"


def test_the_first_value_of_a_name_counts() -> None:
    text = "tp_size=8,model='a=b',tp_size=4,tp=2"
    assert find_pairs(text, PAIR, {"tp_size": "tp", "model": "model"}, ("",)) == {"tp": "8", "model": "a=b"}


def test_nothing_is_no_value() -> None:
    assert find_pairs("tp=None,tp=2,pp=", PAIR, {"tp": "tp", "pp": "pp"}, ("None", "")) == {"tp": "2"}
