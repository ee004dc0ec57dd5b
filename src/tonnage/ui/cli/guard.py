"""The entry of the process: no traceback reaches a user unasked, every end has its documented code."""

from __future__ import annotations

import os
import sys

from tonnage.errors import TonnageError, WorldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

INTERRUPTED = 130  # 128 + SIGINT, as shells count
PIPE_CLOSED = 141  # 128 + SIGPIPE


def guard(action: Callable[[], int], is_debug: bool, is_json: bool) -> int:
    """The exit code of `action`; errors become one line on standard error, with `--json` also the contract's object."""
    _open_missing()
    try:
        return _flushed(action)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return PIPE_CLOSED
    except Exception as error:
        return _report(error, is_debug, is_json)


def attempt(action: Callable[[], dict[str, Any]], is_debug: bool) -> dict[str, Any]:
    """The record `action` gives, or the contract's error record: one bad question does not end a batch."""
    try:
        return action()
    except Exception as error:
        _trace(is_debug)
        return error_record(error)


def error_record(error: Exception) -> dict[str, Any]:
    """`{"error": line, "code": exit code}`."""
    if isinstance(error, TonnageError):
        return {"error": error.line, "code": error.code}
    if isinstance(error, OSError):
        return error_record(
            WorldError(error.filename or "system", error.strerror or error, "a file or device that works")
        )
    seen = f"{type(error).__name__} {error}".strip()
    return error_record(TonnageError("internal fault", seen, "an input tonnage understands; --debug shows where"))


def _report(error: Exception, is_debug: bool, is_json: bool) -> int:
    from tonnage.ui.cli.print_json import print_json

    record = error_record(error)
    try:
        _trace(is_debug)
        print(f"error: {record['error']}", file=sys.stderr)
        if is_json:
            print_json(record)
    except OSError:  # nobody listens or a disk is full: the exit code is all that can be told
        _discard_output()
    return int(record["code"])


def _trace(is_debug: bool) -> None:
    if is_debug:
        import traceback

        traceback.print_exc()


def _open_missing() -> None:
    """Streams that whoever started us has closed become the null device: the exit code is an answer too."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  open until the end


def _flushed(action: Callable[[], int]) -> int:
    try:
        return action()
    finally:
        sys.stdout.flush()  # also after help, which ends by SystemExit


def _discard_output() -> None:
    """Without this the interpreter would complain while it closes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
