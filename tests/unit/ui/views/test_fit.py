"""The screen of one answer."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.ui.views.fit import SCREEN_ROWS, fact_list, fit_rows, sentence
from tonnage.ui.views.screen import plain_text


def lines_of(answer: dict[str, Any], width: int = 80) -> list[str]:
    """The screen as plain lines."""
    return [plain_text(row) for row in fit_rows(answer, width)]


def test_verdict_first_with_the_room(fits: dict[str, Any]) -> None:
    first = lines_of(fits)[0]
    assert first == "Kimi-K3 fits on 8 x MI355X: TP8, vLLM 0.33.    room 31.0 GiB on the fullest card"


def test_numbers_that_decide(fits: dict[str, Any]) -> None:
    assert fact_list(fits) == [
        ("context", "up to 1,048,576 tokens for one request"),
        ("at 131,072", "13.8 requests at once  (27,648 B a token + 429.0 MiB a request)"),
        ("cache", "52.6 GiB a rank, 2,042,774 tokens; one request needs 3.81 GiB"),
        ("loading", "peak 196.0 GiB a card"),
    ]


def test_all_replicas_count(fits: dict[str, Any]) -> None:
    facts = dict(fact_list(fits | {"max_concurrency_x": 2.0, "concurrency_all_replicas": 16.0}))
    assert facts["at 131,072"].startswith("16.0 requests at once")


def test_replicas_are_counted_together_and_each(fits: dict[str, Any]) -> None:
    layout = fits["layout"] | {"dp": 8}
    answer = fits | {"max_concurrency_x": 2.0, "concurrency_all_replicas": 16.0, "layout": layout}
    assert dict(fact_list(answer))["at 131,072"].startswith("16.0 requests at once, 2.0 on each of 8 replicas  (")


@pytest.mark.parametrize(
    ("free", "busiest", "words"),
    [
        ((20,), 0, "room 20.0 GiB"),
        ((20, 20), 1, "room 20.0 GiB on the fullest card"),
        ((20, 18), 1, "room 18.0 GiB on the fullest card, rank 1"),
        ((18, 20, 18), 2, "room 18.0 GiB on the fullest card, rank 2"),  # of equally full ones that which decides
        ((18, 20, 18), None, "room 18.0 GiB on the fullest card, rank 0"),
    ],
)
def test_room(free: tuple[int, ...], busiest: int | None, words: str, fits: dict[str, Any]) -> None:
    gib = 2**30
    ranks = [
        {
            "rank": number, "card_bytes": 80 * gib, "free_bytes": size * gib,
            "lines": [{"name": "weights", "bytes": (80 - size) * gib}],
        }
        for number, size in enumerate(free)
    ]  # fmt: skip
    text = "\n".join(lines_of(fits | {"ranks": ranks, "busiest_rank": busiest}, 120))
    assert text.split("\n")[0].endswith(f" {words}")


def test_host_and_disk(fits: dict[str, Any]) -> None:
    gib = 2**30
    ranks = [rank | {"host_bytes": 50 * gib} for rank in fits["ranks"]]
    tiers = {"host_bytes": 300 * gib, "disk_bytes": 100 * gib, "host_memory_bytes": 300 * gib}
    facts = dict(fact_list(fits | {"ranks": ranks, "tiers": tiers}))
    assert facts["host"] == "50.0 GiB of each card's weights, a node has 300.0 GiB"
    assert facts["disk"] == "100.0 GiB that the host cannot hold"
    unknown = dict(fact_list(fits | {"ranks": ranks, "tiers": {"disk_bytes": 0, "host_memory_bytes": None}}))
    assert unknown["host"] == "50.0 GiB of each card's weights"
    assert "disk" not in unknown
    assert "host" not in dict(fact_list(fits))


def test_a_no_says_why_and_offers_only_what_fits(too_heavy: dict[str, Any]) -> None:
    text = "\n".join(lines_of(too_heavy))
    assert text.startswith("Llama-3.1-405B does not fit on 8 x H100 SXM5 80GB: weights need 94.5 GiB a card,\n")
    assert " tried     TP8, vLLM 0.33" in text
    assert "--on '2x8xH100 SXM5 80GB'  TP8 x PP2, 4.1 requests at 131,072" in text
    assert "int4" not in text
    assert "requests at once" not in text
    assert "next      tonnage cards meta-llama/Llama-3.1-405B" in text


def test_sentences_of_refusals(invalid: dict[str, Any]) -> None:
    assert sentence(invalid).startswith("Qwen3-235B-A22B-FP8 cannot be split so over 3 x MI300X: tensor parallel")
    unsupported = invalid | {"verdict": "unsupported", "reason": "no kernels for gfx906"}
    assert sentence(unsupported) == "SGLang 0.5.9 cannot run Qwen3-235B-A22B-FP8 on 3 x MI300X: no kernels for gfx906."


def test_cache_too_small_keeps_its_numbers(too_heavy: dict[str, Any]) -> None:
    answer = too_heavy | {"verdict": "kv-too-small", "kv_cache_bytes_per_rank": 5 * 2**30, "max_context": 13_500}
    facts = dict(fact_list(answer))
    assert facts["cache"] == "5.0 GiB a rank; one request needs 7.90 GiB"
    assert facts["context"] == "up to 13,500 tokens for one request"


def test_tiny_caches_keep_their_decimals(fits: dict[str, Any]) -> None:
    facts = dict(fact_list(fits | {"kv_bytes_per_token_per_rank": 4.5, "state_bytes_per_request_per_rank": 0}))
    assert facts["at 131,072"].endswith("(4.50 B a token)")


@pytest.mark.parametrize("name", ["fits", "too_heavy", "invalid", "stages"])
def test_one_question_is_one_screen(name: str, request: pytest.FixtureRequest) -> None:
    assert len(lines_of(request.getfixturevalue(name), 80)) <= SCREEN_ROWS


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", ["fits", "too_heavy", "invalid", "stages"])
def test_nothing_is_wider_than_the_screen(name: str, width: int, request: pytest.FixtureRequest) -> None:
    assert max(map(len, lines_of(request.getfixturevalue(name), width))) <= width


def test_forty_columns_keep_every_number(fits: dict[str, Any]) -> None:
    text = " ".join(" ".join(lines_of(fits, 40)).split())
    for number in ("194.4", "52.6", "31.0 GiB", "1,048,576", "13.8", "27,648 B", "196.0 GiB"):
        assert number in text


def test_roles_of_the_verdict(fits: dict[str, Any], too_heavy: dict[str, Any]) -> None:
    assert fit_rows(fits, 80)[0][0].role == "good"
    assert fit_rows(too_heavy, 80)[0][0].role == "bad"


def test_the_least_that_an_answer_may_hold() -> None:
    answer = {"fits": False, "verdict": "unsupported", "reason": "no rules", "engine": "vllm"}
    assert lines_of(answer)[0] == "vLLM cannot run the model on these cards: no rules."
