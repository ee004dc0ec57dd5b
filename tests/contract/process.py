"""The command as a whole process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"
# The environment of a test run may colour, widen or trace; a user's shell is plainer.
DROPPED = {"COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONWARNINGS", "PYTHONDEVMODE", "COVERAGE_PROCESS_START"}


def environment() -> dict[str, str]:
    """The environment of a child that finds the package."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return {**kept, "PYTHONPATH": str(SRC), "HF_HUB_OFFLINE": "1", "TONNAGE_CATALOG": os.devnull}


def run_python(words: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """A child interpreter with the arguments `words`."""
    return subprocess.run([sys.executable, *words], input=stdin, capture_output=True, env=environment(), timeout=120)


def run_tonnage(words: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The command with the arguments `words`."""
    return run_python(["-c", "import sys; from tonnage.ui.cli.main import main; sys.exit(main())", *words], stdin)
