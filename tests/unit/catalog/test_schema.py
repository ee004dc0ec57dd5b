"""Tests of the key rules themselves."""

from __future__ import annotations

import pytest

from tonnage.catalog.schema import KINDS, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.schema import Kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_has_an_origin(kind: Kind) -> None:
    rules = RULES[kind]
    assert all(rules[key].is_required for key in ("id", "basis", "source", "seen"))
    assert rules["basis"].choices == ("measured", "datasheet", "derived", "assumed")


def test_keys_of_amounts_carry_their_unit() -> None:
    amounts = [key for kind in ("accelerators", "nodes", "links") for key, rule in RULES[kind].items() if rule.low]
    counted = ("cards", "cards_per_host", "cards_per_node", "scale_up_domain", "max_cards", "partitions")
    units = ("_bytes", "_bytes_per_s", "_per_direction", "_per_card", "_flops_per_s", "_watts")
    assert [key for key in amounts if key not in counted and not key.endswith(units)] == []


def test_prices_have_a_date_and_a_unit() -> None:
    assert RULES["prices"]["from"].type == "date"
    assert RULES["prices"]["unit"].is_required
