"""Lines with roles: wrapping, labels, plain and ASCII text."""

from __future__ import annotations

import textwrap

from hypothesis import given
from hypothesis import strategies as st

from tonnage.ui.views.screen import Span, ascii_text, label_rows, plain_text, shorten, wrap_text


def test_plain_text_drops_roles_and_trailing_space() -> None:
    assert plain_text((Span("fits", "good"), Span(" on 8  "))) == "fits on 8"
    assert plain_text(()) == ""


def test_ascii_text_keeps_shapes_apart() -> None:
    assert ascii_text("█▓▒░·▚") == "#=+-.%"
    assert ascii_text("2 × 3 – ü") == "2 x 3 - ?"


def test_wrap_text_keeps_aligned_spaces_and_cuts_long_words() -> None:
    assert wrap_text("a  b", 10) == ["a  b"]
    assert wrap_text("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert wrap_text("", 10) == [""]


@given(st.text(st.sampled_from("ab -  \t\u3000é"), max_size=60), st.integers(1, 30))
def test_wrap_text_breaks_where_textwrap_does(text: str, width: int) -> None:
    clean = "".join(sign if sign.isprintable() else " " for sign in text)
    lines = textwrap.wrap(clean, max(8, width), break_on_hyphens=False)
    assert wrap_text(text, width) == ([line.rstrip() for line in lines] or [""])


def test_wrap_text_takes_no_commands_for_the_terminal() -> None:
    assert wrap_text("a\x1b[31mb\x00\ud800c", 40) == ["a [31mb  c"]


def test_label_stands_once_and_text_hangs() -> None:
    rows = label_rows("next", ["one two three", "four"], 8, 16)
    assert [plain_text(row) for row in rows] == [" next   one two", "        three", "        four"]
    assert rows[0][0].role == "label"


def test_shorten() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
    assert shorten("abc", 0) == "…"


def test_a_long_label_has_its_own_line() -> None:
    rows = label_rows("a long label", ["text"], 6, 20)
    assert [plain_text(row) for row in rows] == [" a long label", "      text"]


def test_a_name_cannot_steer_the_terminal() -> None:
    # escape, the half of a pair that no encoding takes, the next line of old terminals
    assert plain_text((Span("a\x1b[31m"), Span("\udcffb\x85c "))) == "a [31m b c"
