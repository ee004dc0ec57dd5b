"""Equal ranks in one line."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.ui.views.ranks import group_ranks, number_words, picture_rows
from tonnage.ui.views.screen import plain_text


def text_of(answer: dict[str, Any], width: int) -> list[str]:
    """The picture as plain lines."""
    return [plain_text(row) for row in picture_rows(answer, width)]


@pytest.mark.parametrize(
    ("numbers", "words"),
    [((0,), "0"), ((0, 1, 2), "0-2"), ((0, 2, 4, 5), "0,2,4-5"), ((), "")],
)
def test_number_words(numbers: tuple[int, ...], words: str) -> None:
    assert number_words(numbers) == words


def test_equal_ranks_share_one_bar(fits: dict[str, Any]) -> None:
    lines = text_of(fits, 80)
    assert lines[0].startswith(" rank 0  ██")
    assert lines[0].endswith("··  288.0 GiB")
    assert lines[1] == " rank 1-7 the same"
    assert lines[2] == "   GiB a card:  █ weights 194.4  ▓ KV cache 52.6  ▒ activations 6.1"
    # graphs 1.4 + links 1.0 + context 1.5; 288 - 257 free
    assert lines[3] == "   ░ graphs, links, runtime 3.9  · free 31.0"


def test_one_rank_has_no_second_line(fits: dict[str, Any]) -> None:
    lines = text_of(fits | {"ranks": fits["ranks"][:1]}, 80)
    assert not any("the same" in line for line in lines)


def test_stages_get_a_bar_each_up_to_four(stages: dict[str, Any]) -> None:
    lines = text_of(stages, 80)
    # six stages: the busiest (rank 10-11) and the three fullest others
    assert [line.split("█")[0].strip() for line in lines[:4]] == ["rank 4-5", "rank 6-7", "rank 8-9", "rank 10-11"]
    # stage 0 holds 50 + 10 + 2 + 1 GiB, stage 1 one more
    assert lines[4] == " 4 more ranks hold 63.0 GiB to 64.0 GiB"
    assert lines[5].startswith("   GiB on rank 10:  █ weights 55.0")


def test_what_is_beyond_the_card_is_told(too_heavy: dict[str, Any]) -> None:
    lines = text_of(too_heavy, 80)
    assert lines[0].count("|") == 1
    # 94.5 + 2.0 + 1.5 - 79.2
    assert lines[-1].strip() == "| beyond the card 18.8"


def test_ranks_differing_below_the_legend_are_one_group(fits: dict[str, Any]) -> None:
    fits["ranks"][3]["lines"][0]["bytes"] += 1000
    assert len(group_ranks(fits["ranks"])) == 1
    fits["ranks"][3]["lines"][0]["bytes"] += 2**30
    assert [group.numbers for group in group_ranks(fits["ranks"])] == [(0, 1, 2, 4, 5, 6, 7), (3,)]


def test_no_ledger_no_picture(invalid: dict[str, Any]) -> None:
    assert picture_rows(invalid, 80) == []


def test_scattered_ranks_leave_room_for_the_bar(fits: dict[str, Any]) -> None:
    for rank in fits["ranks"][::2]:
        rank["lines"][0]["bytes"] += 2**30
    lines = text_of(fits, 40)
    assert lines[0].startswith(" rank 0,2,4,6")
    assert max(map(len, lines)) <= 40
