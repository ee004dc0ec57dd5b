"""Adding a row of one's own to the overlay folder."""

from __future__ import annotations

import json

from tonnage.catalog.problem import check_rows
from tonnage.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tonnage.catalog.load import Catalog
    from tonnage.catalog.schema import Kind, Row


def add_row(catalog: Catalog, kind: Kind, row: Row, append: Callable[[Path, str], None]) -> Catalog:
    """Append a checked row to ``KIND.jsonl`` of the catalogue's overlay and return a catalogue that has it.

    ``append(path, text)`` does the writing and makes the folder; nothing is written for a row that does not pass
    (UsageError). A price with a known id is refused too: a new price is a new row with its own date.
    """
    if catalog.overlay is None:
        raise UsageError("catalog add", "no overlay folder", "a folder for your own rows")
    for problem in check_rows(kind, [row], "overlay"):
        raise UsageError(f"catalog add {kind}", problem.text, "a row as `tonnage catalog show` prints")
    if kind == "prices" and row["id"] in catalog.rows(kind):
        raise UsageError("catalog add prices", f"id {row['id']!r} exists", "a new id; old prices stay")
    append(catalog.overlay / f"{kind}.jsonl", json.dumps(row, ensure_ascii=False) + "\n")
    # Rows already read are kept by the old catalogue, so the row is seen by a new one.
    return type(catalog)(catalog.overlay)
