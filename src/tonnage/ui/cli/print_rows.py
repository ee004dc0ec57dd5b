"""Rows on standard output: in colour on a terminal, plain everywhere else."""

from __future__ import annotations

import os
import sys

from tonnage.errors import MissingExtraError
from tonnage.ui.views.screen import ascii_text, plain_text, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.ui.views.screen import Role, Row

DEFAULT_WIDTH = 80
MIN_WIDTH, MAX_WIDTH = 40, 120
STYLES: dict[Role, str] = {
    "plain": "",
    "good": "bold green",
    "bad": "bold red",
    "dim": "bright_black",
    "label": "cyan",
    "weights": "blue",
    "draft": "bright_blue",
    "kv_cache": "green",
    "activations": "yellow",
    "buffers": "magenta",
    "free": "bright_black",
    "edge": "bold red",
}


def print_rows(rows: Sequence[Row]) -> None:
    """Print `rows`; colours only where a person looks on and has not refused them."""
    if is_coloured():
        _print_coloured(rows)
        return
    text = "\n".join(plain_text(row) for row in rows) + "\n"
    sys.stdout.write(text if _can_show_blocks() else ascii_text(text))


def is_coloured() -> bool:
    """Whether standard output is a terminal that shows colours and `NO_COLOR` is unset or empty."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in (None, "", "dumb")


def screen_width() -> int:
    """Columns to use: `COLUMNS`, else the terminal's, else 80; never so many that lines get hard to follow."""
    stated = os.environ.get("COLUMNS", "")
    width = int(stated) if stated.isascii() and stated.isdigit() and len(stated) <= 4 else _terminal_width()
    return min(max(width or DEFAULT_WIDTH, MIN_WIDTH), MAX_WIDTH)


def _terminal_width() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):  # a pipe, a file or a replaced stream
        return DEFAULT_WIDTH


def _can_show_blocks() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def _print_coloured(rows: Sequence[Row]) -> None:
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError as missing:
        raise MissingExtraError("rich", "not installed", "pip install rich, or NO_COLOR=1") from missing
    console = Console(highlight=False, soft_wrap=True)
    for row in rows:
        console.print(Text.assemble(*((_shown(span.text), STYLES[span.role]) for span in row)), soft_wrap=True)


def _shown(text: str) -> str:
    text = printable(text)
    return text if _can_show_blocks() else ascii_text(text)
