"""Names resolved against the catalogue: exact ones first, then builds and tunings of a model that is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tonnage.catalog.derive import bare_name, list_bases, remark_of
from tonnage.catalog.models import Preset, bare, load_presets
from tonnage.errors import UsageError
from tonnage.model.arch import Arch
from tonnage.model.record import from_record
from tonnage.plan.precision import is_mixture
from tonnage.seams.overlay import find_overlay

if TYPE_CHECKING:
    from tonnage.model.quantization.derived import Derived


@dataclass(frozen=True, slots=True)
class Resolved:
    """A model of the catalogue, or one derived from it; `notes` say how."""

    id: str
    arch: Arch
    notes: tuple[str, ...]
    origin: str


def resolve(name: str) -> Resolved | None:
    """What `name` means; None if no model of the catalogue has its shape for certain."""
    presets = load_presets(find_overlay())
    exact = presets.find(name)
    if exact is not None:
        return _stored(name, exact)
    plain = bare_name(name)
    for candidate in list_bases(plain):
        for spelling in (candidate, bare(candidate)):
            found = presets.find(spelling)
            if found is not None:
                return _tuned(name, found)
        built = _built(name, candidate)
        if built is not None:
            return built
    return None


def refuse(name: str) -> UsageError:
    """The error for a name that nothing resolves, listing the nearest models."""
    near = load_presets(find_overlay()).nearest(bare_name(name))
    accepted = f"nearest: {', '.join(near)}" if near else "an id from `tonnage catalog list --kind models`"
    return UsageError("model", f"unknown {name[:120]!r}", f"{accepted}; or a path, or hf:ORG/NAME")


def _stored(name: str, preset: Preset) -> Resolved:
    return Resolved(preset.id, from_record(preset.record), _preset_notes(preset), preset.origin)


def _preset_notes(preset: Preset) -> tuple[str, ...]:
    return preset.notes


def _tuned(name: str, preset: Preset) -> Resolved:
    """A model of the same shape under another name, stored alike."""
    same = bare(bare_name(name)) == bare(preset.id)
    note = () if same else (f"{name}: taken to have the shape of {preset.id}",)
    return Resolved(name, from_record(preset.record), (*note, *preset.notes), preset.origin)


def _built(name: str, candidate: str) -> Resolved | None:
    """A build whose name ends in a format."""
    from tonnage.model.quantization.derived import scheme_from_name

    build = scheme_from_name(candidate)
    preset = _base_of(build) if build else None
    if build is None or preset is None:
        return None
    arch = from_record(preset.record)
    derived = scheme_from_name(candidate, is_mixture(arch)) or build
    scheme = derived.scheme
    how = f"{scheme.method} ({scheme.source})" if scheme else "16-bit floats"
    arch = replace(arch, scheme=scheme, kv_dtype=scheme.kv_dtype if scheme else None)
    note = f"{name}: {preset.id} stored in {how}, as its name says"
    return Resolved(name, arch, (note, *preset.notes), preset.origin)


def _base_of(build: Derived) -> Preset | None:
    presets = load_presets(find_overlay())
    names = (spelling for base in build.bases for name in list_bases(base) for spelling in (name, bare(name)))
    return next((found for name in names if (found := presets.find(name)) is not None), None)
