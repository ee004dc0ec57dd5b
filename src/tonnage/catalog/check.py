"""Checking a catalogue: its rows, its names and what they refer to."""

from __future__ import annotations

from tonnage.catalog.problem import Problem, check_rows
from tonnage.catalog.schema import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tonnage.catalog.load import Catalog


def check_catalog(catalog: Catalog) -> list[Problem]:
    """All problems of a catalogue: rows, names claimed twice, references to rows that do not exist."""
    problems: list[Problem] = []
    for kind in KINDS:
        problems += check_rows(
            kind, list(catalog.rows(kind).values()), "packaged" if catalog.overlay is None else "overlay"
        )
    if problems:
        return problems
    return [*_check_names(catalog), *_check_references(catalog)]


def describe_problems(problems: Iterable[Problem]) -> list[str]:
    """One line a problem, for printing."""
    return [f"{problem.kind}: {problem.row}: {problem.text}" for problem in problems]


def _check_names(catalog: Catalog) -> Iterator[Problem]:
    for key, ids in catalog.index.items():
        if len(ids) > 1:
            yield Problem("accelerators", ids[-1], f"name {key!r} also belongs to {ids[0]}")


def _check_references(catalog: Catalog) -> Iterator[Problem]:
    links, cards = catalog.rows("links"), catalog.rows("accelerators")
    for row in cards.values():
        for key in ("link", "host_link"):
            if key in row and row[key] not in links:
                yield Problem("accelerators", row["id"], f"{key} {row[key]!r} is not a link")
    for row in catalog.rows("nodes").values():
        if row["accelerator"] not in cards:
            yield Problem("nodes", row["id"], f"accelerator {row['accelerator']!r} is not in the catalogue")
