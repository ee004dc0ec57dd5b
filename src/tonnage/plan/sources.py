"""Models from files: folders, single files and repositories of the hub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tonnage.errors import UnreadableError
from tonnage.model.arch import Arch
from tonnage.seams.place import open_place

if TYPE_CHECKING:
    from tonnage.model.read import Source
    from tonnage.seams.store import Opener

# The contract's bound between what headers say and what the architecture implies, in percent.
GAP_PERCENT = 5
PERCENT = 100


@dataclass(frozen=True, slots=True)
class Opened:
    """An architecture read from files, with the bytes their headers list (None without headers)."""

    arch: Arch
    notes: tuple[str, ...]
    origin: str
    header_bytes: int | None


def open_source(place: str, trust: str | None, opener: Opener = open_place) -> Opened:
    """The model at `place`. A gap above 5 % between headers and architecture is an UnreadableError unless trusted."""
    from tonnage.model.read import read_source

    source = read_source(place, opener)
    size = None if source.entries is None else sum(entry.stored_bytes for entry in source.entries)
    arch = _read(place, source)
    notes = source.notes
    if size is not None and source.gguf_metadata is None:
        notes += _compare(place, arch, size, trust)
    return Opened(arch, notes, source.origin, size)


def _read(place: str, source: Source) -> Arch:
    if source.gguf_metadata is not None:
        from tonnage.model.headers.gguf.arch import gguf_arch

        return gguf_arch(source.gguf_metadata, source.entries or ())
    if source.config is None:
        raise UnreadableError(place, "tensors without config.json", "a folder with its config.json, or a GGUF file")
    from tonnage.model.config.arch import read_arch
    from tonnage.model.quantization.read import read_scheme

    return read_arch(source.config, read_scheme(source.config, source.quant_config))


def _compare(place: str, arch: Arch, size: int, trust: str | None) -> tuple[str, ...]:
    from tonnage.layout.parts import gather_parts
    from tonnage.plan.stored import stored_size

    implied = stored_size(gather_parts(arch))
    if abs(size - implied) * PERCENT <= GAP_PERCENT * implied:
        return ()
    seen = f"headers list {size} bytes, the architecture implies {implied}"
    if trust is None:
        raise UnreadableError(place, seen, f"at most {GAP_PERCENT} % apart, or --trust headers|config")
    return (f"{seen}; {trust} trusted",)
