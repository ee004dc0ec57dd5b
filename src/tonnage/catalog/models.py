"""Model presets: architectures kept as records of our own schema, one JSON object a line, found by name."""

from __future__ import annotations

import os

from tonnage.catalog.load import decode_text, read_bytes
from tonnage.errors import UnreadableError
from tonnage.json_text import parse_json
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

# Joined by hand, as in `load`: `importlib.resources` costs more than the look-up.
_PACKAGED = os.path.join(os.path.dirname(__file__), "data")
FILE = "models.jsonl"
# Every line begins with these two keys, so that its names are read without the rest.
_HEAD = '{"id":"'
_NUM_NEAREST = 4
_LEAST_LIKENESS = 0.6  # the default of difflib
_LONGEST_NAME = 120


@value
class Preset:
    """A model of the catalogue.

    `record` is its architecture for `tonnage.model.record.from_record`; `params` is the total that its publisher or
    the hub states, scale tensors included as the hub counts them, None where none was seen. `origin` says where the
    facts come from, `seen` when they were read (ISO date; None for facts from general knowledge), `basis` how sure
    they are (`datasheet`: the published configuration; `derived`: put together from published facts and checked
    against the total; `assumed`).
    """

    id: str
    aliases: tuple[str, ...]
    origin: str
    seen: str | None
    basis: str
    record: dict[str, Any]
    params: int | None = None
    notes: tuple[str, ...] = ()


class Presets:
    """The packaged models and those of an overlay folder, which come first; lines are parsed when asked for."""

    __slots__ = ("_files", "_lines", "_names")

    def __init__(self, overlay: Path | None = None) -> None:
        own = [] if overlay is None else [os.path.join(overlay, FILE)]
        paths = [*filter(os.path.exists, own), os.path.join(_PACKAGED, FILE)]
        self._files = {path: read_bytes(path) for path in paths}
        self._lines: dict[str, str] = {}
        self._names: list[str] = []
        if own:
            self._read_names()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all models, in the order of the files."""
        self._read_names()
        return tuple(self._names)

    def find(self, name: str) -> Preset | None:
        """The model with this id, id without its organisation, or alias, in any case; None if there is none."""
        line = self._find_id(name)
        if line is None:
            self._read_names()
            line = self._lines.get(fold(name))
        return None if line is None else read_preset(line)

    def _find_id(self, name: str) -> str | None:
        """The line of the packaged model with exactly this id, in a tenth of the time that all names take."""
        if self._lines or '"' in name or "\\" in name:
            return None
        ((path, data),) = self._files.items()
        start = data.find(f'\n{_HEAD}{name}",'.encode(errors="replace")) + 1
        return decode_text(path, data[start : data.find(b"\n", start)]) if start else None

    def nearest(self, name: str) -> tuple[str, ...]:
        """Ids of up to four models whose names look like `name`, best first."""
        # Imported here: a known name, the usual case, never needs it.
        from difflib import get_close_matches

        owners = {bare(model): model for model in reversed(self.ids)}
        wanted = bare(name[:_LONGEST_NAME])
        longer = sorted((key for key in owners if wanted and key.startswith(wanted)), key=len)
        close = get_close_matches(wanted, owners, n=2 * _NUM_NEAREST, cutoff=_LEAST_LIKENESS)
        return tuple(dict.fromkeys(owners[key] for key in (*longer, *close)))[:_NUM_NEAREST]

    def _read_names(self) -> None:
        for path, data in () if self._lines else self._files.items():
            self._add(path, decode_text(path, data))

    def _add(self, path: str, text: str) -> None:
        lines = [line for line in text.split("\n") if line.strip()]
        heads = [_names_of(path, line) for line in lines]
        self._names += [names[0] for names in heads if names[0] not in self._names]
        # Exact ids win over aliases of other models.
        for line, names in zip(lines, heads, strict=True):
            self._lines.setdefault(fold(names[0]), line)
        for line, names in zip(lines, heads, strict=True):
            for name in (bare(names[0]), *names[1:]):
                self._lines.setdefault(fold(name), line)


def find_preset(name: str, overlay: Path | None = None) -> Preset | None:
    """The model of the catalogue with this id, bare id or alias in any case; None if there is none."""
    return load_presets(overlay).find(name)


_loaded: dict[Path | None, Presets] = {}


def load_presets(overlay: Path | None = None) -> Presets:
    """The models of the catalogue, read once per overlay folder; UnreadableError for a broken overlay."""
    if overlay not in _loaded:
        _loaded[overlay] = Presets(overlay)
    return _loaded[overlay]


def fold(name: str) -> str:
    """A name in lower case, its spaces hyphens: `DeepSeek R1` is `deepseek-r1`."""
    return "-".join(name.lower().split())


def bare(name: str) -> str:
    """A folded name without its organisation."""
    return fold(name).rpartition("/")[2]


def read_preset(line: str) -> Preset:
    """The preset of one line of a models file; UnreadableError names what is wrong with it."""
    try:
        row = parse_json(line)
        return Preset(
            row["id"],
            tuple(row["aliases"]),
            row["source"],
            row.get("seen"),
            row["basis"],
            row["arch"],
            row.get("params"),
            tuple(row.get("notes", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        accepted = "a row as `validation/import_models.py` writes it"
        raise UnreadableError(f"{FILE}: {line[:_LONGEST_NAME]}", str(error), accepted) from error


def _names_of(path: str, line: str) -> list[str]:
    """Id and aliases at the start of a line."""
    head, bracket, _ = line.partition("]")
    # Odd pieces between quotes are texts: id, its value, aliases, their values.
    texts = head.split('"')[1::2]
    if not line.startswith(_HEAD) or not bracket or texts[2:3] != ["aliases"]:
        raise UnreadableError(path, line[:_LONGEST_NAME], f'lines that begin {_HEAD}...","aliases":[...]')
    return [texts[1], *texts[3:]]
