"""An answer on standard output: for programs or for people."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tonnage.ui.views.screen import Row


def print_answer(answer: dict[str, Any], is_json: bool, show: Callable[[dict[str, Any], int], Sequence[Row]]) -> None:
    """The answer as JSON, or as the rows that `show` makes of it for the width of the screen."""
    if is_json:
        from tonnage.ui.cli.print_json import print_json

        return print_json(answer)
    from tonnage.ui.cli.print_rows import print_rows, screen_width

    return print_rows(show(answer, screen_width()))
