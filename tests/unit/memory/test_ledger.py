"""The ledger of one rank."""

from __future__ import annotations

from tonnage.figure import Line, exact
from tonnage.memory.ledger import Ledger

LINES = (
    exact("weights", 50, "layers 0-31"),
    Line("activations", 6, 4, 9, "derived"),
    exact("kv_cache", 20, "10 blocks of 2 B"),
    exact("other", 1, "first"),
    exact("other", 2, "second"),
)


def test_lines_add_up() -> None:
    ledger = Ledger(rank=0, card_bytes=100, budget_bytes=92, lines=LINES, load_peak_bytes=55)
    assert ledger.used_bytes == 50 + 6 + 20 + 1 + 2
    assert ledger.free_bytes == 21


def test_lines_of_one_name_are_summed() -> None:
    ledger = Ledger(0, 100, 92, LINES, 55)
    assert (ledger.bytes_of("other"), ledger.bytes_of("weights"), ledger.bytes_of("draft")) == (3, 50, 0)


def test_free_is_negative_where_lines_exceed_the_card() -> None:
    assert Ledger(0, 60, 55, LINES, 55).free_bytes == 60 - 79


def test_an_empty_ledger_leaves_the_card() -> None:
    assert Ledger(3, 60, 55, (), 0).free_bytes == 60
