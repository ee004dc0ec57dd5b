"""Own hardware: a TOML file that describes nodes, cards and their host."""

from __future__ import annotations

import os.path

from tonnage.catalog.accelerator import build_accelerator
from tonnage.catalog.find import find_accelerator
from tonnage.catalog.load import read_toml
from tonnage.catalog.problem import check_rows
from tonnage.errors import UnreadableError
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tonnage.catalog.accelerator import Accelerator
    from tonnage.catalog.load import Catalog
    from tonnage.catalog.schema import Row

_KEYS = ("nodes", "count", "accelerator", "host_memory_bytes")


@value
class Hardware:
    """What a file states: ``nodes`` times ``count`` of one accelerator, and the host memory of one node."""

    nodes: int
    count: int
    accelerator: Accelerator
    host_memory_bytes: int | None


def read_hardware(path: str, catalog: Catalog, host_memory_bytes: int | None = None) -> Hardware:
    """The hardware of a TOML file; UnreadableError names the file and what is wrong.

    Keys: ``nodes`` and ``count`` (1 when missing), ``host_memory_bytes`` of one node, and ``accelerator``: a name, or
    a table with catalogue keys and optionally ``like`` (a catalogue name whose other facts are taken over).
    """
    tables = read_toml(path)
    unknown = sorted(set(tables) - set(_KEYS))
    if unknown:
        raise UnreadableError(path, "unknown key " + ", ".join(unknown), ", ".join(_KEYS))
    nodes, count = (_whole(path, key, tables.get(key, 1)) for key in ("nodes", "count"))
    if "host_memory_bytes" in tables:
        host_memory_bytes = _whole(path, "host_memory_bytes", tables["host_memory_bytes"])
    accelerator = _read_accelerator(path, tables.get("accelerator"), catalog, host_memory_bytes)
    return Hardware(nodes, count, accelerator, host_memory_bytes)


def _read_accelerator(path: str, described: object, catalog: Catalog, host_memory_bytes: int | None) -> Accelerator:
    if isinstance(described, str):
        return find_accelerator(catalog, described, host_memory_bytes)
    if isinstance(described, dict):
        return _build_own(path, described, catalog)
    raise UnreadableError(path, f"accelerator = {described!r}", "a name, or a table [accelerator]")


def _build_own(path: str, table: dict[str, Any], catalog: Catalog) -> Accelerator:
    stated = {key: value for key, value in table.items() if key != "like"}
    row = {**_base_row(path, table.get("like"), catalog), "memory_basis": "assumed", "source": [path], **stated}
    for problem in check_rows("accelerators", [row], "own"):
        raise UnreadableError(path, problem.text, "accelerator keys as `tonnage catalog show` prints, and like")
    built = build_accelerator(row, catalog.links)
    return replace(built, assumptions=(f"{built.name} as described in {path}",))


def _base_row(path: str, like: object, catalog: Catalog) -> Row:
    stem = os.path.basename(path).removesuffix(".toml")
    # The segment keeps own hardware out of tables of cards for sale.
    if like is None:
        return {"id": stem, "name": stem, "segment": "modified", "basis": "assumed"}
    found = find_accelerator(catalog, str(like))
    # An own capacity has nothing to do with the size the card was sold with.
    facts = {k: v for k, v in catalog.rows("accelerators").get(found.id, {}).items() if k != "memory_nominal_bytes"}
    return {**facts, "id": stem, "name": f"{found.name} ({stem})", "segment": "modified", "aliases": []}


def _whole(path: str, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UnreadableError(path, f"{key} = {value!r}", "a whole number of 1 or more")
    return value
