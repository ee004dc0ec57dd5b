"""Plain command lines, read as `argparse` reads them; everything else is left to it."""

from __future__ import annotations

import pytest

from tonnage.errors import UsageError
from tonnage.ui.cli.reader import Arguments, Reader, is_option
from tonnage.ui.cli.verbs import NAMES, add_shared, load_verb, make_parser

PLAIN = [
    ("fit", "org/model --on 8xMI355X"),
    ("fit", "--on 8xMI355X org/model --json"),
    ("fit", "org/model --on 2x8xH100 --tp 8 --pp 2 --ep --context 131,072 --utilization 0.9 --explain --debug"),
    ("fit", "--batch - --json"),
    ("fit", "org/model --tp 2 --tp 4"),
    ("fit", ""),
    ("cards", "org/model --precision fp8"),
    ("receipt", "one.log two.log --against plan.json --save"),
    ("receipt", "-"),
    ("catalog", "list"),
    ("catalog", "show H100 --kind nodes"),
    ("completion", "bash"),
    ("version", "--json"),
]
NOT_PLAIN = [
    ("fit", "org/model --help"),
    ("fit", "org/model -h"),
    ("fit", "org/model --tp"),
    ("fit", "org/model --tp -1"),
    ("fit", "org/model --on --json"),
    ("fit", "org/model other"),
    ("fit", "org/model --tp=8"),
    ("fit", "org/model --frobnicate"),
    ("receipt", "--save"),
    ("catalog", ""),
    ("catalog", "burn"),
    ("catalog", "list --kind cars"),
    ("completion", "fish"),
]


def read(name: str, line: str) -> Arguments | None:
    """What a reader makes of a verb's command line."""
    reader = Reader()
    add_shared(reader)  # type: ignore[arg-type]
    load_verb(name).add_arguments(reader)  # type: ignore[arg-type]
    return reader.read(line.split())


@pytest.mark.parametrize(("name", "line"), PLAIN)
def test_plain_lines_are_read_like_argparse(name: str, line: str) -> None:
    found = read(name, line)
    assert found is not None
    assert vars(found) == vars(make_parser(name, load_verb(name)).parse_intermixed_args(line.split()))


@pytest.mark.parametrize(("name", "line"), NOT_PLAIN)
def test_other_lines_are_left(name: str, line: str) -> None:
    assert read(name, line) is None


def test_numbers_are_refused_at_once() -> None:
    with pytest.raises(UsageError, match="--tp: '0': a whole number of 1 or more"):
        read("fit", "org/model --tp 0")


@pytest.mark.parametrize("name", NAMES)
def test_every_verb_can_be_described(name: str) -> None:
    reader = Reader()
    load_verb(name).add_arguments(reader)  # type: ignore[arg-type]


def test_a_dash_is_standard_input() -> None:
    assert [is_option(word) for word in ("-", "--tp", "-h", "tp", "")] == [False, True, True, False, False]
