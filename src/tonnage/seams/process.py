"""Programs of this machine, run to their end with a time limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tonnage.errors import WorldError
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import IO

MAX_OUTPUT_BYTES = 16 * 2**20


@value
class Finished:
    """What a program left behind: its exit status and what it printed, undecodable bytes replaced."""

    status: int
    output: str
    errors: str


Runner = Callable[[Sequence[str], float], Finished]


def run(command: Sequence[str], timeout_s: float) -> Finished:
    """Run `command` without a shell and wait for it; its input is empty.

    A non-zero exit status is the caller's business. `WorldError` if the program cannot be started, runs longer than
    `timeout_s` (it is killed with its children), or prints more than `MAX_OUTPUT_BYTES`.
    """
    import subprocess
    import tempfile

    # Files, not pipes: a grandchild that keeps a pipe open would hold us after the program ended.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise WorldError(ascii(command[0]), reason, "a program that can be started") from error
        status = _wait(process, timeout_s, command[0])
        return Finished(status, _text(output, command[0]), _text(errors, command[0]))


def _wait(process: Popen[bytes], timeout_s: float, program: str) -> int:
    import os
    import signal
    import subprocess

    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired as error:
        raise WorldError(ascii(program), f"still running after {timeout_s:g} s", "an end within that time") from error
    finally:
        if process.returncode is None:  # also when the user interrupts us: its own session does not hear that
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _text(file: IO[bytes], program: str) -> str:
    file.seek(0)
    data = file.read(MAX_OUTPUT_BYTES + 1)
    if len(data) > MAX_OUTPUT_BYTES:
        raise WorldError(ascii(program), "endless output", f"at most {MAX_OUTPUT_BYTES} bytes")
    return data.decode(errors="replace")
