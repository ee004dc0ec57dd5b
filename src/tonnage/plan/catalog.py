"""The catalogue as its verb shows it: rows of tables and models alike."""

from __future__ import annotations

from tonnage.catalog.load import Catalog
from tonnage.catalog.schema import KINDS as TABLES
from tonnage.errors import UsageError
from tonnage.seams.overlay import find_overlay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tonnage.catalog.schema import Kind

    Row = dict[str, Any]

MODELS = "models"
KINDS = (*TABLES, MODELS)


def list_kind(kind: str, text: str) -> Row:
    """The main columns of every row of a kind that contains `text`."""
    if kind == MODELS:
        from tonnage.plan.model_rows import list_models

        return {"kind": kind, "rows": list_models(text)}
    from tonnage.catalog.rows import list_rows

    return {"kind": kind, "rows": list_rows(_tables(), _table(kind), text)}


def show_kind(kind: str | None, name: str) -> Row:
    """One row in full. Without a kind an accelerator is looked for first, then a model; UsageError for neither."""
    if kind is None and "/" not in name:
        try:
            return show_kind("accelerators", name)
        except UsageError as unknown:
            return _model_or(name, unknown)
    if kind in (None, MODELS):
        from tonnage.plan.model_rows import show_model

        return show_model(name)
    from tonnage.catalog.rows import show_row

    return show_row(_tables(), _table(kind), name)


def check_all() -> Row:
    """All problems, of tables and models."""
    from tonnage.catalog.check import check_catalog, describe_problems
    from tonnage.plan.model_rows import check_models

    return {"problems": [*describe_problems(check_catalog(_tables())), *check_models()]}


def add_kind(kind: str, row: Row) -> Row:
    """A row appended to the user's folder; UsageError for one that does not pass the check."""
    if kind == MODELS:
        from tonnage.plan.model_rows import add_model

        folder = add_model(row)
        return {"kind": kind, "added": row["id"], "folder": folder}
    from tonnage.catalog.add import add_row
    from tonnage.seams.overlay import append_text, overlay_folder

    catalog = Catalog(overlay_folder())
    add_row(catalog, _table(kind), row, append_text)
    return {"kind": kind, "added": row["id"], "folder": str(catalog.overlay)}


def _model_or(name: str, unknown: UsageError) -> Row:
    try:
        return show_kind(MODELS, name)
    except UsageError:
        raise unknown from None


def _tables() -> Catalog:
    return Catalog(find_overlay())


def _table(kind: str | None) -> Kind:
    return next(table for table in TABLES if table == kind)
