"""The folder where tonnage keeps what it has learnt on this machine."""

from __future__ import annotations

import os

VARIABLE = "TONNAGE_DATA"
CALIBRATION_FILE = "calibration.jsonl"


def data_folder() -> str:
    """`$TONNAGE_DATA`, else `tonnage` in the user's data folder; it need not exist."""
    stated = os.environ.get(VARIABLE)
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return stated or os.path.join(home, "tonnage")


def calibration_path(folder: str | None = None) -> str:
    """The file of earlier starts, in `folder` or in that of this machine."""
    return os.path.join(folder or data_folder(), CALIBRATION_FILE)
