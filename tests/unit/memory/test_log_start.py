"""One start of an engine, and several in one log."""

from __future__ import annotations

from tonnage.memory.amount import Amount
from tonnage.memory.log_start import Start, Starts

ONE, TWO = Amount(1, 1, 1), Amount(2, 2, 2)


def test_amounts_by_speaker() -> None:
    start = Start()
    assert start.is_empty
    start.add("a", "weights", TWO)
    start.add("b", "weights", ONE)
    assert not start.is_empty
    assert start.largest("weights") == TWO
    assert start.largest_bytes("weights") == 2
    assert start.largest_bytes("kv") is None


def test_numbers() -> None:
    start = Start()
    for value in (3.0, 1.0, 2.0):
        start.count("tokens", value)
    assert (start.smallest("tokens"), start.whole("tokens"), start.last("tokens")) == (1.0, 1, 2)
    assert (start.smallest("x"), start.whole("x"), start.last("x")) == (None, None, None)


def test_the_first_text_counts() -> None:
    start = Start()
    start.say("a.x", None)
    start.say("a.x", "1")
    start.say("a.x", "2")
    start.say("b.x", "3")
    assert start.texts_under("a.") == {"x": "1"}


def test_the_first_refusal_counts_and_only_before_the_start() -> None:
    start = Start()
    start.refuse("first")
    start.refuse("second")
    assert start.refusal == "first"
    running = Start(is_started=True)
    running.refuse("out of memory while serving")
    assert running.refusal is None


def test_a_process_opens_a_start_once() -> None:
    start = Start()
    assert not start.is_reopened("a", "engine")
    assert not start.is_reopened("b", "engine")
    assert not start.is_reopened("a", "server")
    assert start.is_reopened("a", "engine")


def test_nothing_grows_without_end() -> None:
    start = Start()
    for number in range(10_000):
        start.count("tokens", number)
        start.add(str(number), "weights", ONE)
        start.add("0", "weights", ONE)
        start.is_reopened(str(number), "engine")
    assert len(start.numbers["tokens"]) == 64
    assert len(start.amounts) == 4096
    assert len(start.amounts["0"]["weights"]) == 64
    assert len(start.openings) == 512


def test_the_last_start_that_came_to_an_end() -> None:
    starts = Starts(Start)
    starts.begin()  # nothing was read before it
    starts.current.add("a", "weights", ONE)
    starts.current.is_sized = True
    starts.begin()
    starts.current.add("a", "weights", TWO)
    assert starts.chosen().largest("weights") == ONE
    starts.current.is_started = True
    assert starts.chosen().largest("weights") == TWO
    assert starts.notes() == ("the log holds 2 starts; the last that came to an end is shown",)


def test_a_start_that_is_cut_off_is_better_than_none() -> None:
    starts = Starts(Start)
    starts.current.add("a", "weights", ONE)
    starts.begin()
    starts.current.add("a", "weights", TWO)
    assert starts.chosen().largest("weights") == TWO
    assert Starts(Start).notes() == ()


def test_a_refusal_is_the_clean_end_of_its_line() -> None:
    start = Start()
    start.refuse("\x1b[31m" + "x" * 500 + " out of memory\n")
    assert start.refusal == "x" * 386 + " out of memory"  # 400 characters


def test_outcomes() -> None:
    assert (Start().outcome(None), Start(is_started=True).outcome(None)) == ("unknown", "started")
    assert Start(is_started=True).outcome("died later") == "refused"
