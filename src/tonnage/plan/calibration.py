"""What earlier starts have taught: measured minus predicted, kept for the same engine version, card and family.

A JSON Lines file, one start a line:

    {"engine": "vllm", "version": "0.27", "card": "h100-sxm", "family": "qwen3", "weights_ratio": 1.001,
     "differences": {"activations": 104857600, "context": -20971520}}

Differences are bytes of one rank. `rest` is the difference of all overheads together, where a log gives no parts.
"""

from __future__ import annotations

import json
from statistics import median

from tonnage.errors import UnreadableError
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from tonnage.figure import Line, LineName

OVERHEADS: tuple[LineName, ...] = ("context", "communication", "activations", "cuda_graphs")
REST = "rest"
# What cannot be taken off a line is taken off these: together they are what the profiler of an engine measures.
_PARTNERS: tuple[LineName, ...] = ("activations", "communication", "context")
_MAX_BYTES = 1 << 26  # some hundred thousand starts


@value
class Key:
    """What starts must share to teach about each other; `version` is major.minor."""

    engine: str
    version: str
    card: str
    family: str


@value
class Calibration:
    """Measured minus predicted of one start, or the medians of several: bytes by line name, and the weights' ratio."""

    key: Key
    differences: Mapping[str, int]
    weights_ratio: float | None = None
    num_starts: int = 1


def make_key(engine: str, version: str, card: str, family: str) -> Key:
    """The key of a start; of the version only major and minor count."""
    return Key(engine, ".".join(version.strip().lstrip("v").split(".")[:2]), card, family)


def load_calibration(path: str) -> tuple[Calibration, ...]:
    """The starts kept at `path`, oldest first; nothing when there is no such file.

    UnreadableError names the line that is no calibration.
    """
    import os.path

    from tonnage.seams.files import read_file

    if not os.path.exists(path):
        return ()
    lines = read_file(path, _MAX_BYTES).decode("utf-8", "replace").splitlines()
    return tuple(_parse(f"{path}:{number}", line) for number, line in enumerate(lines, start=1) if line.strip())


def save_calibration(path: str, start: Calibration) -> None:
    """Add a start to the file at `path`, which stays whole whatever happens. WorldError where that is not possible."""
    import os

    from tonnage.errors import WorldError
    from tonnage.seams.files import write_atomically

    try:
        os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
    except OSError as error:
        raise WorldError(path, error.strerror or type(error).__name__, "a folder that can be written") from error
    starts = (*load_calibration(path), start)
    write_atomically(path, "".join(f"{_render(each)}\n" for each in starts).encode())


def find_calibration(starts: Iterable[Calibration], key: Key) -> Calibration | None:
    """The medians of the starts with this key, line by line; None where there is none."""
    same = [start for start in starts if start.key == key]
    if not same:
        return None
    names = dict.fromkeys(name for start in same for name in start.differences)
    differences = {
        name: int(median(start.differences[name] for start in same if name in start.differences)) for name in names
    }
    ratios = [start.weights_ratio for start in same if start.weights_ratio is not None]
    return Calibration(key, differences, median(ratios) if ratios else None, len(same))


def apply_calibration(lines: tuple[Line, ...], record: Calibration | None) -> tuple[Line, ...]:
    """The lines with their overheads moved by what was measured; weights and cache stay as they are.

    Lines that moved are measured and their band narrows to the digits of the calculation. None changes nothing.
    """
    if record is None:
        return lines
    for name in OVERHEADS:
        if name in record.differences:
            lines = _move(lines, (name, *_PARTNERS), record.differences[name], record.num_starts)
    if REST in record.differences:
        lines = _move(lines, _PARTNERS, record.differences[REST], record.num_starts)
    return lines


def _move(lines: tuple[Line, ...], names: tuple[LineName, ...], by: int, num_starts: int) -> tuple[Line, ...]:
    """`by` bytes added to the first named line; what would make it negative is taken off the next."""
    moved = list(lines)
    for name in dict.fromkeys(names):
        place = next((i for i, line in enumerate(moved) if line.name == name), None)
        if place is None:
            continue
        size = moved[place].bytes + by
        moved[place] = _measured(moved[place], max(0, size), num_starts)
        by = min(0, size)
        if not by:
            break
    return tuple(moved)


def _measured(line: Line, size: int, num_starts: int) -> Line:
    trace = f"{line.trace}; {size - line.bytes:+,} B measured in {num_starts} starts".lstrip("; ")
    return replace(line, bytes=size, low=size, high=size, basis="measured", trace=trace)


def _render(start: Calibration) -> str:
    key = start.key
    record = {"engine": key.engine, "version": key.version, "card": key.card, "family": key.family}
    return json.dumps(record | {"weights_ratio": start.weights_ratio, "differences": dict(start.differences)})


def _parse(place: str, line: str) -> Calibration:
    try:
        record: Any = json.loads(line)
        key = Key(*(str(record[name]) for name in ("engine", "version", "card", "family")))
        differences = {str(name): int(size) for name, size in record["differences"].items()}
        ratio = record.get("weights_ratio")
        return Calibration(key, differences, None if ratio is None else _positive(float(ratio)))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UnreadableError(
            place, f"no calibration ({error})", "a line that `tonnage receipt --save` wrote"
        ) from error


def _positive(ratio: float) -> float:
    if not 0 < ratio < float("inf"):
        raise ValueError(f"weights_ratio {ratio}")
    return ratio
