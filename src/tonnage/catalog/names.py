"""Names of accelerators: ids, names and aliases in one index, looked up without case, spaces or vendor words."""

from __future__ import annotations

from tonnage.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tonnage.catalog.schema import Row

# Words people add or leave out; none of them tells two cards apart.
_FILLERS = frozenset(
    (
        *("nvidia", "amd", "intel", "huawei", "geforce", "tesla", "instinct", "radeon"),
        *("class", "card", "cards", "gpu", "generation", "edition", "inferred"),
    )
)
_SPACES = dict.fromkeys(map(ord, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"), " ")
# What comes after the names in every packaged row.
_AFTER_NAMES = '"vendor":'
_NUM_NEAREST = 4
_LEAST_LIKENESS = 0.6  # the default of difflib
_LONGEST_NAME = 120


def fold(text: str) -> str:
    """A name without case, punctuation, spaces and filler words; parentheses count as spaces."""
    words = text.lower().translate(_SPACES).split()
    return "".join([word for word in words if word not in _FILLERS] or words)


def list_spellings(row: Row) -> Iterator[str]:
    """Every spelling of a row: id, name, aliases, and the aliases that leave a choice (``H100``: SXM, PCIe, NVL)."""
    yield row["id"]
    yield row["name"]
    yield from row.get("aliases", ())
    yield from row.get("assumed_aliases", ())


def is_assumed(row: Row, text: str) -> bool:
    """Whether a spelling picks this row although others share it."""
    return fold(text) in map(fold, row.get("assumed_aliases", ()))


def build_index(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """Folded spellings of accelerator rows and the ids they mean; a spelling claimed by two rows keeps both."""
    index: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for key in set(map(fold, list_spellings(row))):
            index[key] = (*index.get(key, ()), row["id"])
    return index


def squeeze_names(lines: Iterable[str]) -> list[str]:
    """The names at the head of each line of accelerator rows, folded and run together."""
    heads = "\n".join(line.partition(_AFTER_NAMES)[0] for line in lines).lower().translate(_SPACES)
    for filler in _FILLERS:
        heads = heads.replace(f" {filler} ", " ")
    return heads.replace(" ", "").split("\n")


def look_up(index: dict[str, tuple[str, ...]], text: str) -> str | None:
    """The id a name means, None when it means none; a UsageError when it means several."""
    found = index.get(fold(text), ())
    if len(found) > 1:
        raise UsageError("accelerator", f"{text!r} is ambiguous", "one of " + ", ".join(found))
    return found[0] if found else None


def refuse_name(rows: Iterable[Row], text: str) -> UsageError:
    """The error for an unknown name, listing the nearest known spellings."""
    near = nearest_names(rows, text)
    accepted = "nearest: " + ", ".join(near) if near else "a name from `tonnage catalog list`"
    return UsageError("accelerator", f"unknown {text[:_LONGEST_NAME]!r}", accepted)


def nearest_names(rows: Iterable[Row], text: str) -> tuple[str, ...]:
    """Names of up to four cards close to a text, best first: those it begins, then those that look like it."""
    # Imported here: a known name, the usual case, never needs it.
    from difflib import get_close_matches

    wanted = fold(text[:_LONGEST_NAME])
    owners = {fold(spelling): row["name"] for row in rows for spelling in list_spellings(row)}
    longer = sorted((key for key in owners if wanted and key.startswith(wanted)), key=len)
    close = get_close_matches(wanted, owners, n=2 * _NUM_NEAREST, cutoff=_LEAST_LIKENESS)
    return tuple(dict.fromkeys(owners[key] for key in (*longer, *close)))[:_NUM_NEAREST]
