"""Reading the catalogue: the packaged rows, and an overlay folder of the user with the same schema."""

from __future__ import annotations

import os
import os.path
import stat

from tonnage.catalog.accelerator import build_accelerator
from tonnage.catalog.link import build_link
from tonnage.catalog.names import build_index, fold, look_up, squeeze_names
from tonnage.errors import UnreadableError, UsageError
from tonnage.json_text import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Any

    from tonnage.catalog.accelerator import Accelerator
    from tonnage.catalog.link import Link
    from tonnage.catalog.node import Node
    from tonnage.catalog.price import Price
    from tonnage.catalog.schema import Kind, Row

# Joined by hand: `importlib.resources` and `pathlib` together cost more than reading the rows.
_PACKAGED = os.path.join(os.path.dirname(__file__), "data")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LARGEST_FILE = 1 << 26  # bytes; the packaged rows of one kind take less than a hundredth of it


class Catalog:
    """Rows of all kinds, read when first asked for and then kept; one instance serves a whole process.

    ``overlay`` is a folder with ``accelerators.jsonl`` or ``.toml`` (tables ``[[accelerators]]``), and the same for
    nodes, links and prices. Its rows are checked when read and replace packaged rows of the same id. A folder that
    does not exist is an empty one.
    """

    __slots__ = ("_heads", "_index", "_lines", "_links", "_rows", "overlay")

    def __init__(self, overlay: Path | None = None) -> None:
        self.overlay = overlay
        self._lines: dict[Kind, list[str]] = {}
        self._rows: dict[Kind, dict[str, Row]] = {}
        self._heads: list[str] = []
        self._links: dict[str, Link] | None = None
        self._index: dict[str, tuple[str, ...]] | None = None

    def rows(self, kind: Kind) -> dict[str, Row]:
        """All rows of a kind by id, overlay applied; UnreadableError for an overlay that cannot be understood."""
        if kind not in self._rows:
            rows = {row["id"]: row for row in self._parsed(kind, self._packaged(kind))}
            if self.overlay is not None:
                rows.update((row["id"], row) for row in read_overlay(self.overlay, kind))
            self._rows[kind] = rows
        return self._rows[kind]

    @property
    def index(self) -> dict[str, tuple[str, ...]]:
        """The folded names of all accelerators and the ids they mean."""
        if self._index is None:
            self._index = build_index(self.rows("accelerators").values())
        return self._index

    def look_up(self, text: str) -> str | None:
        """The id of the accelerator a name means, None when it means none; a UsageError when it means several."""
        if self._index is None and self.overlay is None:
            return look_up(build_index(self._mentioning(fold(text))), text)
        return look_up(self.index, text)

    def _mentioning(self, key: str) -> list[Row]:
        """Packaged accelerators that may be called so: the index of all names takes ten times as long as one name."""
        lines = self._packaged("accelerators")
        self._heads = self._heads or squeeze_names(lines)
        found = [line for line, head in zip(lines, self._heads, strict=True) if key and key in head]
        return self._parsed("accelerators", found)

    def row(self, kind: Kind, key: str, name: str) -> Row | None:
        """The first row of a kind whose ``key`` is ``name``; None when there is none."""
        rows: Iterable[Row] = self._rows[kind].values() if kind in self._rows else ()
        if not rows and self.overlay is None:
            rows = self._parsed(kind, [line for line in self._packaged(kind) if f'"{name}"' in line])
        return next((row for row in rows or self.rows(kind).values() if row[key] == name), None)

    @property
    def links(self) -> dict[str, Link]:
        """All links by id."""
        if self._links is None:
            self._links = {key: build_link(row) for key, row in self.rows("links").items()}
        return self._links

    def accelerator(self, accelerator_id: str) -> Accelerator:
        """The accelerator of an exact id; other names go through ``find_accelerator``."""
        row = self.row("accelerators", "id", accelerator_id)
        if row is None:
            raise UsageError("accelerator id", accelerator_id, "an id from `tonnage catalog list`")
        links = (self.row("links", "id", row[key]) for key in ("link", "host_link") if key in row)
        return build_accelerator(row, {link["id"]: build_link(link) for link in links if link})

    def accelerators(self) -> tuple[Accelerator, ...]:
        """All accelerators in catalogue order."""
        return tuple(build_accelerator(row, self.links) for row in self.rows("accelerators").values())

    def nodes(self) -> tuple[Node, ...]:
        """All nodes in catalogue order."""
        from tonnage.catalog.node import build_node

        return tuple(build_node(row) for row in self.rows("nodes").values())

    def prices(self) -> tuple[Price, ...]:
        """All dated prices and running-cost figures in catalogue order."""
        from tonnage.catalog.price import build_price

        return tuple(build_price(row) for row in self.rows("prices").values())

    def _packaged(self, kind: Kind) -> list[str]:
        """The packaged lines of a kind, not yet understood."""
        if kind not in self._lines:
            self._lines[kind] = read_text(os.path.join(_PACKAGED, f"{kind}.jsonl")).split("\n")
        return self._lines[kind]

    def _parsed(self, kind: Kind, lines: list[str]) -> list[Row]:
        return list(parse_lines(f"{kind}.jsonl", lines))


def read_overlay(folder: Path, kind: Kind) -> list[Row]:
    """The checked rows of one kind in an overlay folder; UnreadableError names file, row and what is wrong."""
    found: list[Row] = []
    present = _list_files(folder)
    for name, read in ((f"{kind}.jsonl", read_jsonl), (f"{kind}.toml", _read_tables)):
        if name in present:
            path = os.path.join(folder, name)
            rows = list(read(path))
            _refuse_problems(path, kind, rows)
            found += rows
    return found


def read_jsonl(path: str) -> Iterator[Row]:
    """The objects of a JSON Lines file; UnreadableError with the line number otherwise."""
    # Not splitlines: a text may hold other line separators than the one JSON Lines knows.
    yield from parse_lines(path, read_text(path).split("\n"))


def parse_lines(path: str, lines: Iterable[str]) -> Iterator[Row]:
    """The objects on lines, empty ones left out; UnreadableError with the file and the line number otherwise."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except (ValueError, RecursionError) as error:
            raise UnreadableError(f"{path}:{number}", str(error), "one JSON object a line") from error
        if not isinstance(row, dict):
            raise UnreadableError(f"{path}:{number}", type(row).__name__, "one JSON object a line")
        yield row


def read_toml(path: str) -> dict[str, Any]:
    """The tables of a TOML file; UnreadableError when missing, not UTF-8 or broken."""
    import tomllib

    try:
        return tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UnreadableError(path, str(error), "valid TOML") from error


def read_text(path: str) -> str:
    """A UTF-8 text file, a byte order mark dropped; UnreadableError otherwise."""
    return decode_text(path, read_bytes(path))


def decode_text(path: str, data: bytes) -> str:
    """The text of a file that is UTF-8, lines ended by a line feed alone; UnreadableError otherwise."""
    try:
        text = data.removeprefix(BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(path, f"byte {error.start} is not UTF-8", "UTF-8 text") from error
    return text.replace("\r\n", "\n") if "\r" in text else text


def read_bytes(path: str) -> bytes:
    """A whole file; UnreadableError where it cannot be read, is no file, or is far too large for what is read here."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            # A pipe would block for ever, a device may never end.
            raise UnreadableError(path, "not a regular file of at most 64 MiB", "a text file")
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        # ValueError: a path with a null byte.
        raise UnreadableError(path, getattr(error, "strerror", None) or str(error), "a readable file") from error


def _list_files(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UnreadableError(str(folder), str(error), "a folder of your own rows") from error


def _read_tables(path: str) -> Iterator[Row]:
    kind = os.path.basename(path).removesuffix(".toml")
    tables = read_toml(path)
    rows = tables.get(kind, [])
    if set(tables) - {kind} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnreadableError(path, ", ".join(tables), f"tables [[{kind}]] only")
    yield from map(_plain_dates, rows)


def _plain_dates(row: Row) -> Row:
    # TOML has dates of its own (seen = 2026-01-31); the schema keeps them as text.
    return {key: value.isoformat() if hasattr(value, "isoformat") else value for key, value in row.items()}


def _refuse_problems(path: str, kind: Kind, rows: list[Row]) -> None:
    # Imported here: without an overlay nothing needs checking, the packaged rows pass in the tests.
    from tonnage.catalog.problem import check_rows

    for problem in check_rows(kind, rows, "overlay"):
        raise UnreadableError(path, f"{problem.row}: {problem.text}", "rows as `tonnage catalog show` prints")
