"""Untrusted text inside an error line."""

from __future__ import annotations

QUOTED_CHARACTERS = 80  # keeps an error on one line of a terminal


def quote(value: object) -> str:
    """`value` escaped (control characters, lone surrogates) and cut to `QUOTED_CHARACTERS`."""
    text = ascii(value[:QUOTED_CHARACTERS] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= QUOTED_CHARACTERS else text[:QUOTED_CHARACTERS] + "..."
