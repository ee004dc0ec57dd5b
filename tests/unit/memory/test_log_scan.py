"""Facts in lines that terminals, containers and paste buffers have been at."""

from __future__ import annotations

import time

import pytest

from tonnage.memory.log_scan import LONGEST_LINE, Dialect, Fact, Found, Scanner, clean_line, squeeze

DIALECT = Dialect(
    facts=(
        Fact("size", "sizeis", r"sizeis(\d+)MB"),
        Fact("name", "name is", r"name is (.+)$", is_spaced=True),
        Fact("list", "list:", r"list:(.*)", is_long=True),
    ),
    hints=("size", "name", "list"),
    head=r"^INFO|^<\w+>",
    speaker=lambda text: text[1] if text.startswith("<") else "",
)


def scan(*lines: str) -> list[Found]:
    """Everything found in the lines."""
    scanner = Scanner(DIALECT)
    return [found for line in lines for found in scanner.feed(line)]


def groups(*lines: str) -> list[tuple[str, str | None]]:
    """Names and first groups."""
    return [(found.name, found.groups[0]) for found in scan(*lines)]


def test_white_space_does_not_matter() -> None:
    assert groups("INFO the size \t is   12 MB") == [("size", "12")]


def test_names_keep_their_spaces() -> None:
    assert groups("INFO its name is NVIDIA H100 80GB") == [("name", "NVIDIA H100 80GB")]


def test_speakers() -> None:
    assert [found.speaker for found in scan("<a> size is 1 MB", "<b> size is 2 MB")] == ["a", "b"]


def test_a_line_may_say_two_things() -> None:
    assert groups("INFO size is 1 MB, size is 2 MB") == [("size", "1"), ("size", "2")]


@pytest.mark.parametrize(
    "pieces", [("INFO size is 1", "2 MB"), ("INFO si", "ze is 12 MB"), ("INFO the size", " is", " 12 M", "B")]
)
def test_wrapped_lines(pieces: tuple[str, ...]) -> None:
    # a piece without one of the words is only looked at behind a piece with one
    expected = [("size", "12")] if "size" in pieces[0] else []
    assert groups(*pieces) == expected


def test_a_wrapped_line_keeps_its_speaker_and_text() -> None:
    found = scan("<a> size is 1", "2 MB")[0]
    assert (found.speaker, found.line) == ("a", "<a> size is 12 MB")


def test_a_head_ends_a_line() -> None:
    assert groups("INFO size is 1", "INFO 2 MB") == []
    assert groups("INFO size is 1", "<b> size is 7 MB") == [("size", "7")]


def test_lines_without_heads_stand_for_themselves() -> None:
    lines = [f"size is {number} MB" for number in range(30)]
    assert groups(*lines) == [("size", str(number)) for number in range(30)]


def test_a_list_goes_on_in_pieces_that_overlap() -> None:
    found = scan("INFO list: a=1, b=2", "2, c=3", "INFO size is 1 MB", "d=4")
    assert [each.groups[0] for each in found if each.name == "list"] == ["a=1,b=2", "INFOlist:a=1,b=22,c=3"]


def test_too_many_pieces_are_no_line() -> None:
    assert groups("INFO size is", *["1"] * 20, "MB") == []


def test_cleaning() -> None:
    assert clean_line("\x1b[1;36m(a)\x1b[0m [34mb[0m\0 \r\n") == "(a) b"
    assert clean_line("[2026-01-01] [12]m") == "[2026-01-01] [12]m"
    assert len(clean_line("x" * (LONGEST_LINE + 9))) == LONGEST_LINE
    assert squeeze(" a\tb\n c ") == "abc"


@pytest.mark.parametrize("line", ["size" * 100_000, "size " + "\x1b[" * 200_000, "list:" + "(" * 300_000])
def test_hostile_lines_take_no_time(line: str) -> None:
    start = time.perf_counter()
    assert all(found.name == "list" for found in scan(line, line))
    assert time.perf_counter() - start < 2
