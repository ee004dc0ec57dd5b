"""Records as one line of JSON on standard output."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def print_json(record: Mapping[str, Any]) -> None:
    """One object, one line, in ASCII so that no locale can break it."""
    import json

    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()
