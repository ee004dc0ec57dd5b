"""Lines of text whose parts have a role; a face decides what a role looks like."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Role = Literal[
        "plain", "good", "bad", "dim", "label", "weights", "draft", "kv_cache", "activations", "buffers", "free", "edge"
    ]


# What is drawn when the output cannot show block characters.
_ASCII = str.maketrans("█▚▓▒░·…×≥≤–—’", "#%=+-..x><--'")


@value
class Span:
    """A piece of a line."""

    text: str
    role: Role = "plain"


Row = tuple[Span, ...]
BLANK: Row = ()


def plain_text(row: Row) -> str:
    """A line without its roles, nothing trailing."""
    return printable("".join(span.text for span in row)).rstrip()


def printable(text: str) -> str:
    """`text` with spaces for what moves the cursor, changes colours or breaks the encoding."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else " " for sign in text)


def ascii_text(text: str) -> str:
    """`text` in characters that every terminal has."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def wrap_text(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters; a word that is longer is cut. Control characters become spaces."""
    width = max(8, width)
    rest = printable(text).rstrip()
    lines: list[str] = []
    # As `textwrap` would, whose import costs more than a screen of these.
    while len(rest) > width:
        end = _line_end(rest, width)
        lines += [line] if (line := rest[:end].rstrip()) else []
        rest = rest[end:].lstrip()
    return [*lines, rest] if rest or not lines else lines


def _line_end(rest: str, width: int) -> int:
    """Where the first line ends: before the last word that does not fit, inside it if it fits nowhere."""
    end = rest.rfind(" ", 0, width + 1)
    is_longer = end < width and len(rest[end + 1 :].partition(" ")[0]) > width
    return width if is_longer else end


def wrap_row(text: str, width: int, role: Role = "plain") -> list[Row]:
    """`text` wrapped, every line in one role."""
    return [(Span(line, role),) for line in wrap_text(text, width)]


def label_rows(label: str, texts: list[str], column: int, width: int) -> list[Row]:
    """A label and its texts, each wrapped, hanging at `column`; a label that is longer gets a line of its own."""
    lines = [line for text in texts for line in wrap_text(text, width - column)]
    hanging: list[Row] = [(Span(" " * column), Span(line)) for line in lines]
    if len(label) + 2 > column:
        return [(Span(f" {label}", "label"),), *hanging]
    return [(Span(f" {label}".ljust(column), "label"), Span(lines[0])), *hanging[1:]]


def shorten(text: str, width: int) -> str:
    """`text` cut to `width` characters, an ellipsis at the cut."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
