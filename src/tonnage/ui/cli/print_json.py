"""Records as one line of JSON on standard output."""

from __future__ import annotations

import sys

from tonnage.json_text import render_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def print_json(record: Mapping[str, Any]) -> None:
    """One object, one line, in ASCII so that no locale can break it."""
    sys.stdout.write(render_json(record) + "\n")
    sys.stdout.flush()
