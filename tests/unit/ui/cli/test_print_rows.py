"""Printing: colours on terminals only, ASCII where nothing else goes, widths."""

from __future__ import annotations

import ast
import inspect
import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tonnage.errors import MissingExtraError
from tonnage.ui.cli.print_rows import STYLES, is_coloured, print_rows, screen_width
from tonnage.ui.views import screen
from tonnage.ui.views.screen import Row, Span

ROWS: list[Row] = [(Span("fits", "good"), Span(" ██", "weights")), (), (Span("[red]x[/red]"),)]


class Terminal(io.TextIOWrapper):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        """Always."""
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Puts a colour terminal in place of standard output; called inside a test, after pytest has put its own there."""

    def install() -> Terminal:
        out = Terminal(io.BytesIO(), encoding="utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdout", out)
        return out

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return install


def written(out: Any) -> str:
    """What was written to a terminal or a file of bytes."""
    return bytes(out.buffer.getvalue()).decode(out.encoding)


def test_colours_on_a_terminal(terminal: Callable[[], Terminal]) -> None:
    out = terminal()
    print_rows(ROWS)
    text = written(out)
    assert "\x1b[1;32mfits\x1b[0m" in text
    assert "[red]x[/red]" in text


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "")])
def test_colours_refused(
    terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    out = terminal()
    assert not is_coloured()
    print_rows(ROWS)
    assert written(out) == "fits ██\n\n[red]x[/red]\n"


def test_empty_no_color_refuses_nothing(terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal()
    monkeypatch.setenv("NO_COLOR", "")
    assert is_coloured()


def test_ascii_where_the_encoding_has_no_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    print_rows(ROWS)
    assert written(out) == "fits ##\n\n[red]x[/red]\n"


def test_missing_rich_names_what_to_install(terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(MissingExtraError, match="pip install rich"):
        print_rows(ROWS)


@pytest.mark.parametrize(
    ("columns", "width"), [("100", 100), ("20", 40), ("500", 120), ("0", 80), ("", 80), ("x", 80), ("99999", 80)]
)
def test_width(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", columns)
    assert screen_width() == width


def test_no_role_without_a_style() -> None:
    # Types exist for the checker only, so the roles are read from the source.
    tree = ast.parse(inspect.getsource(screen))
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    role = next(node for node in assigned if ast.unparse(node.targets[0]) == "Role")
    assert isinstance(role.value, ast.Subscript)
    assert set(STYLES) == set(ast.literal_eval(role.value.slice))
