"""Settings that a log prints as pairs of name and value."""

from __future__ import annotations

from tonnage.memory.log_scan import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def find_pairs(text: str, pattern: str, names: Mapping[str, str], nothing: Collection[str]) -> dict[str, str]:
    """The values in `text` by their names here, quotes off; the first of a name counts.

    `pattern` has the groups `key` and `value`; keys that are not in `names` are left out, and so are values that say
    `nothing`.
    """
    pairs: dict[str, str] = {}
    for match in compiled(pattern).finditer(text):
        name, value = names.get(match["key"]), match["value"].strip("'\"")
        if name is not None and value not in nothing:
            pairs.setdefault(name, value)
    return pairs
