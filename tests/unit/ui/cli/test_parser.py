"""Reading arguments."""

from __future__ import annotations

import pytest

from tonnage.errors import UsageError
from tonnage.ui.cli.parser import Parser


def test_options_are_not_abbreviated() -> None:
    parser = Parser("tonnage fit", "A verb.")
    parser.add_argument("--json", action="store_true")
    assert parser.parse_args(["--json"]).json is True
    with pytest.raises(UsageError, match="unknown argument: --jso: nearest: --json"):
        parser.parse_args(["--jso"])


def test_nothing_near() -> None:
    with pytest.raises(UsageError, match="unknown argument: zzz: see tonnage fit --help"):
        Parser("tonnage fit", "A verb.").parse_args(["zzz"])


def test_a_missing_argument_shows_the_usage() -> None:
    parser = Parser("tonnage fit", "A verb.")
    parser.add_argument("model", metavar="MODEL")
    with pytest.raises(UsageError, match=r"MODEL: absent: usage: tonnage fit"):
        parser.parse_args([])
