"""Programs run to their end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from tonnage.errors import WorldError
from tonnage.seams import process
from tonnage.seams.process import Finished, run


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_errors_and_status_are_kept_apart() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert run(python(code), 20) == Finished(3, "out\n", "err\n")


def test_input_is_empty_and_broken_characters_are_replaced() -> None:
    code = "import sys; sys.stdout.buffer.write(b'a\\xff' + sys.stdin.buffer.read())"
    assert run(python(code), 20).output == "a\ufffd"


@pytest.mark.parametrize("program", ["no-such-program-here", "/", "/etc/passwd", "a\0b"])
def test_programs_that_cannot_be_started(program: str) -> None:
    with pytest.raises(WorldError, match="a program that can be started"):
        run([program], 20)


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    # The pipe ends when the last process that has it open for writing is gone.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    child = f"import time; f = open({str(pipe)!r}, 'w', buffering=1); f.write('up\\n'); time.sleep(30); f.write('late')"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(WorldError, match="still running after 2 s"):
        run(python(code), 2)
    os.set_blocking(reader, True)
    with open(reader) as file:
        assert file.read() == "up\n"


def test_a_grandchild_that_keeps_the_output_open_does_not_hold_us() -> None:
    sleeper = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])"
    finished = run(python(f"import subprocess, sys; print({sleeper}.pid)"), 20)
    os.kill(int(finished.output), signal.SIGKILL)
    assert finished.status == 0


def test_endless_output_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OUTPUT_BYTES", 100)
    with pytest.raises(WorldError, match="endless output: at most 100 bytes"):
        run(python("print('x' * 100)"), 20)
