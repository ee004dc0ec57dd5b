"""The smallest number of each kind of card."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.catalog.fleet import Fleet
from tonnage.errors import UsageError
from tonnage.plan.cards import Row, list_cards, smallest_fleet
from tonnage.plan.desk import open_desk
from tonnage.plan.fit import answer_question
from tonnage.plan.fleets import card_kinds, find_card
from tonnage.plan.question import Question

QWEN, LLAMA, MIXTURE = "Qwen/Qwen3-8B", "meta-llama/Meta-Llama-3.1-405B", "Qwen/Qwen3-235B-A22B-FP8"


def smallest(model: str, card: str, **fields: Any) -> Row:
    """The row of one kind of card."""
    desk = open_desk(Question(model, card, **fields))
    return smallest_fleet(desk.moved(Fleet(1, 1, find_card(card))))


def count(row: Row) -> int | None:
    """Cards in all."""
    return row.fleet.num_cards if row.fleet else None


def fits(model: str, card: str, nodes: int, number: int, **fields: Any) -> bool:
    """Whether `fit` says yes to that many cards."""
    question = Question(model, card, gpu_count=nodes * number, nodes=nodes, **fields)
    return bool(answer_question(question, with_remedies=False)["fits"])


@pytest.mark.parametrize(
    ("model", "card", "fields"),
    [
        (QWEN, "H100", {}),
        (QWEN, "RTX 4090", {"max_model_len": 40_960}),
        (QWEN, "T4", {"max_model_len": 32_768}),
        ("Qwen/Qwen3-32B", "L40S", {"max_model_len": 32_768}),
        (LLAMA, "B200", {}),
        (LLAMA, "MI300X", {"max_model_len": 131_072, "concurrency": 4}),
        (MIXTURE, "H100", {}),
        (MIXTURE, "MI355X", {}),
        ("openai/gpt-oss-120b", "L40S", {}),
    ],
)
def test_one_card_fewer_fails(model: str, card: str, fields: dict[str, Any]) -> None:
    row = smallest(model, card, **fields)
    assert row.fleet is not None
    assert fits(model, card, row.fleet.nodes, row.fleet.count, **fields)
    if row.fleet.count > 1 and row.fleet.nodes == 1:
        assert not fits(model, card, 1, row.fleet.count - 1, **fields)
    if row.fleet.nodes > 1:
        assert not fits(model, card, row.fleet.nodes - 1, row.fleet.count, **fields)


def test_a_small_model_needs_one_card() -> None:
    row = smallest(QWEN, "H100")
    assert (count(row), row.why_not_fewer) == (1, "one card is the least there is")


def test_why_one_fewer_fails() -> None:
    # Eight cards of 79.18 GiB and 756 of weights; two nodes hold 1,267.
    row = smallest(LLAMA, "H100")
    assert row.fleet is not None
    assert (row.fleet.nodes, row.fleet.count) == (2, 8)
    assert row.why_not_fewer == "8 hold 633.4 GiB together, the weights need 756.0 GiB"


def test_more_than_eight_nodes_are_not_tried() -> None:
    row = smallest("moonshotai/Kimi-K3", "T4")
    assert (row.fleet, row.choice) == (None, None)
    assert row.record()["count"] is None
    assert row.record()["why_not_fewer"]


def test_a_card_that_stands_alone_has_one_count() -> None:
    assert count(smallest(QWEN, "GB10")) == 1
    assert count(smallest(LLAMA, "GB10")) is None


def test_what_stops_more_cards_from_helping() -> None:
    # Weights of 15.27 GiB fill a card of 14.56 and most of two; three hold 8,192 tokens and more.
    row = smallest(QWEN, "T4", max_model_len=8192)
    assert count(row) == 2
    assert "the card has 14.6 GiB" in row.why_not_fewer


def test_formats_a_card_lacks() -> None:
    row = smallest(MIXTURE, "MI250X")
    assert count(row) is None
    assert "no FP8 arithmetic" in row.why_not_fewer


def test_record() -> None:
    record = smallest(QWEN, "MI300X").record()
    assert (record["accelerator"], record["vendor"], record["count"], record["nodes"]) == (
        "amd-mi300x-192gb", "amd", 1, 1,
    )  # fmt: skip
    assert record["layout"]["words"] == "TP1"
    assert record["free_bytes"] > 0
    assert record["weights_bytes_per_rank"] == 16_391_957_056 + 2 * 2**20
    assert record["max_model_len"] == 40_960
    assert record["price_usd"] == 15_000
    assert record["why_not_fewer_brief"] == ""


def test_why_in_a_few_words() -> None:
    # 405,853,388,800 parameters of 2 B are 756 GiB, eight cards of 79.18 hold 633.
    assert smallest(LLAMA, "H100").record()["why_not_fewer_brief"] == "8 hold 633 of 756 GiB"
    none = smallest(MIXTURE, "MI250X").record()
    assert none["why_not_fewer_brief"].startswith("refused: not on ")


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    """All kinds of card for a checkpoint in fp8."""
    return list_cards(Question(MIXTURE, "any", max_model_len=32_768))


def test_every_kind_has_its_row(table: dict[str, Any]) -> None:
    assert {row["accelerator"] for row in table["rows"]} == {card.id for card in card_kinds()}
    assert table["model"]["id"] == MIXTURE


def test_smallest_numbers_come_first(table: dict[str, Any]) -> None:
    counts = [row["count"] for row in table["rows"]]
    found = [number for number in counts if number is not None]
    assert found == sorted(found)
    assert counts[: len(found)] == found


def test_rows_have_the_fields_of_the_contract(table: dict[str, Any]) -> None:
    for row in table["rows"]:
        assert set(row) >= {"accelerator", "count", "layout", "free_bytes", "why_not_fewer"}
        assert row["why_not_fewer"]


def test_a_layout_cannot_be_stated_for_all_kinds() -> None:
    with pytest.raises(UsageError, match="layout: TP8: none"):
        list_cards(Question(QWEN, "any", tp=8))
