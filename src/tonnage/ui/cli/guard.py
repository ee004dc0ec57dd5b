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
    try:
        code = action()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _close_pipe()
    except Exception as error:
        return _report(error, is_debug, is_json)
    return code


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

    _trace(is_debug)
    record = error_record(error)
    print(f"error: {record['error']}", file=sys.stderr)
    if is_json:
        print_json(record)
    return int(record["code"])


def _trace(is_debug: bool) -> None:
    if is_debug:
        import traceback

        traceback.print_exc()


def _close_pipe() -> int:
    """The reader is gone; without this the interpreter would complain while it closes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED
