"""Why, what to know, what else was tried, what to ask next."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.ui.views.advice import advice_rows
from tonnage.ui.views.screen import plain_text

MANY = 20  # lines left on the screen


def lines_of(answer: dict[str, Any], left: int = MANY, width: int = 80) -> list[str]:
    """The advice as plain lines, its texts at column 10."""
    return [plain_text(row) for row in advice_rows(answer, 10, width, left)]


def test_of_a_yes(fits: dict[str, Any]) -> None:
    assert lines_of(fits) == [
        " because  896 experts stay resident though 16 act per token; MLA latents are",
        "          copied to each rank; TP8 is the simplest layout, and it fits",
        " instead  --dp-attention: 92.0 requests     --kv-dtype fp8: 26.9 requests",
        " next     --explain  tonnage cards moonshotai/Kimi-K3  tonnage receipt LOG",
    ]


def test_reasons_take_two_lines_the_weightiest_first(fits: dict[str, Any]) -> None:
    reasons = ["a reason of some length that matters " + "much " * 5, "a second one " * 5, "a third one " * 9, "short"]
    found = [line for line in lines_of(fits | {"because": reasons}) if "reason" in line or "one" in line]
    assert len(found) == 2
    assert "third" not in " ".join(found)


def test_a_long_first_reason_is_kept(fits: dict[str, Any]) -> None:
    assert " ".join(" ".join(lines_of(fits | {"because": ["word " * 60]})).split()).count("word") == 60


def test_of_a_no(too_heavy: dict[str, Any]) -> None:
    assert lines_of(too_heavy) == [
        " instead  --on '2x8xH100 SXM5 80GB'  TP8 x PP2, 4.1 requests at 131,072",
        "          --precision fp8            2.3 requests at 131,072",
        "          --on 8xMI300X              TP8, 9.6 requests at 131,072",
        " next     tonnage cards meta-llama/Llama-3.1-405B  --explain",
    ]


@pytest.mark.parametrize(
    ("change", "layout", "length", "words"),
    [
        ({"kv_cache_dtype": "fp8"}, "TP8", 131_072, "--kv-dtype fp8: 2.0 requests"),
        ({"kv_cache_dtype": "fp8"}, "TP8", 4096, "--kv-dtype fp8: 2.0 requests at 4,096"),
        ({"kv_cache_dtype": "fp8"}, "TP4 x PP2", 131_072, "--kv-dtype fp8: TP4 x PP2, 2.0 requests"),
        ({"tp": 4, "pp": 2}, "TP4 x PP2", 131_072, "--tp 4 --pp 2: 2.0 requests"),
        ({"dp_attention": True}, "DP8 x EP", 131_072, "--dp-attention: 2.0 requests"),
        ({"gpu": "B200", "tp": 8}, "TP8", 131_072, "--on 8xB200 --tp 8: TP8, 2.0 requests"),
    ],
)
def test_an_effect_says_what_is_different(
    change: dict[str, Any], layout: str, length: int, words: str, fits: dict[str, Any]
) -> None:
    parts = {"layout": layout, "max_model_len": length, "requests": 2.0}
    remedy = {"change": change, "effect": "", "fits": True} | parts
    assert f" instead  {words}" in lines_of(fits | {"remedies": [remedy]})


def test_an_answer_of_another_version_has_its_words(fits: dict[str, Any]) -> None:
    remedy = {"change": {"kv_cache_dtype": "fp8"}, "effect": "TP8: 4.0 requests", "fits": True}
    assert " instead  --kv-dtype fp8: TP8: 4.0 requests" in lines_of(fits | {"remedies": [remedy]})


def test_long_paths_are_left_out(fits: dict[str, Any]) -> None:
    assert lines_of(fits | {"model": {"id": "/models/" + "x" * 60}})[-1] == (
        " next     --explain  tonnage cards MODEL  tonnage receipt LOG"
    )


class TestNotes:
    """Notes are short, and never all of them hidden."""

    def test_all_where_there_is_room(self, fits: dict[str, Any]) -> None:
        lines = lines_of(fits | {"notes": ["one", "two"]})
        assert lines[2:4] == [" note     one", "          two"]

    def test_a_long_note_is_cut(self, fits: dict[str, Any]) -> None:
        lines = [line for line in lines_of(fits | {"notes": ["word " * 60]}) if "word" in line]
        assert len(lines) == 2
        assert lines[1].endswith("…")

    def test_the_rest_is_counted(self, fits: dict[str, Any]) -> None:
        notes = [f"note {number}" for number in range(9)]
        # seven lines: two because, one instead, one next, three for notes
        lines = lines_of(fits | {"notes": notes}, left=7)
        assert lines[2:5] == [" note     note 0", "          note 1", "          7 more notes: --explain"]

    def test_one_line_is_always_left(self, fits: dict[str, Any]) -> None:
        assert lines_of(fits | {"notes": ["word " * 60]}, left=0)[2] == " note     1 note: --explain"
        assert lines_of(fits | {"notes": ["short"]}, left=0)[2] == " note     short"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_nothing_is_wider_than_the_screen(width: int, too_heavy: dict[str, Any]) -> None:
    assert max(map(len, lines_of(too_heavy | {"notes": ["word " * 60]}, MANY, width))) <= width
