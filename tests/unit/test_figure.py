"""Lines of a ledger."""

from __future__ import annotations

import pytest

from tonnage.figure import Line, banded, exact


def test_an_exact_line_has_no_band() -> None:
    line = exact("weights", 17_179_869_184, "layers 0-31")
    assert line == Line("weights", 17_179_869_184, 17_179_869_184, 17_179_869_184, "derived", "layers 0-31")


def test_its_basis_can_be_stated() -> None:
    assert exact("context", 0, "read from a log", "measured").basis == "measured"


def test_a_line_keeps_its_band_and_needs_no_trace() -> None:
    line = Line("activations", 100, 60, 150, "assumed")
    assert (line.low, line.bytes, line.high, line.trace) == (60, 100, 150, "")


def test_lines_are_immutable() -> None:
    with pytest.raises(AttributeError):
        exact("other", 1, "").bytes = 2  # type: ignore[misc]


def test_a_band_is_a_share_of_the_size() -> None:
    assert banded("context", 1001, (0.5, 2.0), "measured", "logs") == Line(
        "context", 1001, 500, 2002, "measured", "logs"
    )
