"""The folder with the user's own catalogue rows."""

from __future__ import annotations

import os

from tonnage.errors import WorldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "TONNAGE_CATALOG"


def overlay_folder() -> Path:
    """`$TONNAGE_CATALOG`, else `tonnage/catalog` in the user's configuration folder; it need not exist."""
    from pathlib import Path

    return Path(_overlay_path())


def find_overlay() -> Path | None:
    """The folder if it exists; None spares start-up the reading of a folder that is not there."""
    return overlay_folder() if os.path.isdir(_overlay_path()) else None


def append_text(path: Path, text: str) -> None:
    """Append UTF-8 text to a file, its folder made; WorldError where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise WorldError(str(path), error.strerror or "not writable", f"a folder to write to, or {VARIABLE}") from error


def _overlay_path() -> str:
    stated = os.environ.get(VARIABLE)
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return stated or os.path.join(home, "tonnage", "catalog")
