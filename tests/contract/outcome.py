"""One call of the command, in this process or in a bounded one, and what every call must keep to."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NoReturn

from process import environment

from tonnage.ui.cli.main import main

LIMIT_S = 10.0  # measured: below one; the machine may be busy
MOST_MEMORY_BYTES = 10**9
LONGEST_LINE = 3000
COMMAND = "import sys; from tonnage.ui.cli.main import main; sys.exit(main())"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Exit code, both streams, and seconds."""

    words: Sequence[str]
    code: int
    out: str
    err: str
    seconds: float

    @property
    def record(self) -> dict[str, Any]:
        """The one object on standard output."""
        (line,) = self.out.splitlines()
        record: dict[str, Any] = strict(line)
        return record

    @property
    def error(self) -> str:
        """The error without its prefix."""
        return self.err.removeprefix("error: ").rstrip("\n")


def ask(*words: str) -> Outcome:
    """The command in this process, checked."""
    out, err = io.StringIO(), io.StringIO()
    start = perf_counter()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:  # after help
            code = int(end.code or 0)
    return checked(Outcome(words, code, out.getvalue(), err.getvalue(), perf_counter() - start))


def refuse(*words: str) -> str:
    """The error of a command that must end with exit code 2; asked as text and as JSON."""
    plain, rich = ask(*words), ask(*words, "--json")
    assert (plain.code, rich.code, plain.out) == (2, 2, ""), plain
    assert rich.record == {"error": plain.error, "code": 2}
    return plain.error


def run_bounded(words: Sequence[str], stdin: bytes = b"", **variables: str) -> Outcome:
    """The command as a process that may take 1 GB of memory, checked."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        input=stdin, capture_output=True, env=environment() | variables, timeout=60, preexec_fn=_bound,
    )  # fmt: skip
    out, err = done.stdout.decode(), done.stderr.decode()
    return checked(Outcome(words, done.returncode, out, err, perf_counter() - start))


def strict(line: str) -> Any:
    """The JSON value of a line; NaN and Infinity are none."""
    return json.loads(line, parse_constant=_no_number)


def checked(outcome: Outcome) -> Outcome:
    """The outcome, if it is an answer or one line of error, in time, and JSON where JSON was asked."""
    assert outcome.code in (0, 1, 2, 3), outcome
    assert outcome.seconds < LIMIT_S, outcome
    assert "Traceback" not in outcome.err or "--debug" in outcome.words, outcome
    assert "internal fault" not in outcome.err + outcome.out, outcome
    if outcome.code >= 2 and not {"--batch", "--debug"} & set(outcome.words):
        _check_error(outcome)
    if "--json" in outcome.words and "--help" not in outcome.words and "--batch" not in outcome.words:
        assert isinstance(outcome.record, dict), outcome
    return outcome


def _check_error(outcome: Outcome) -> None:
    line = outcome.err.removesuffix("\n")
    assert line.startswith("error: "), outcome
    assert line.count(": ") >= 3, outcome
    assert line.isprintable(), outcome
    assert len(line) <= LONGEST_LINE, outcome
    if "--json" in outcome.words:
        assert outcome.record == {"error": outcome.error, "code": outcome.code}, outcome
    else:
        assert outcome.out == "", outcome


def _bound() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))


def _no_number(text: str) -> NoReturn:
    raise AssertionError(f"{text} is no JSON")
