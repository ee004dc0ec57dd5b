"""Names resolved against the catalogue: exact ones first, then builds and tunings of a model that is known."""

from __future__ import annotations

from tonnage.catalog.derive import bare_name, list_bases, remark_of
from tonnage.catalog.models import bare, load_presets
from tonnage.errors import UsageError
from tonnage.model.record import from_record
from tonnage.seams.overlay import find_overlay
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.models import Preset, Presets
    from tonnage.model.arch import Arch


@value
class Resolved:
    """A model of the catalogue, or one derived from it; `notes` say how."""

    id: str
    arch: Arch
    notes: tuple[str, ...]
    origin: str


def resolve(name: str) -> Resolved | None:
    """What `name` means; None if no model of the catalogue has its shape for certain."""
    exact = open_presets().find(name)
    if exact is not None:
        return Resolved(exact.id, from_record(exact.record), exact.notes, exact.origin)
    found, remark = _derive(name), remark_of(name)
    return _as_remarked(found, remark) if found and remark else found


def _as_remarked(found: Resolved, remark: str) -> Resolved:
    """In the precision that a remark behind the name states; remarks of other kinds change nothing."""
    # Imported here: few names carry a remark.
    from tonnage.plan.precision import apply_precision, find_precision

    precision = find_precision(remark)
    if precision is None:
        return found
    asked = apply_precision(found.arch, precision)
    return replace(found, arch=asked.arch, notes=(*found.notes, *asked.notes))


def _derive(name: str) -> Resolved | None:
    """Names nearest first. A build by another owner is its own, whatever a build of the same name is like."""
    # Imported here: exact names need no formats.
    from tonnage.plan.builds import build_named

    for candidate in list_bases(bare_name(name)):
        known = open_presets().find(candidate)
        if known is not None:
            return _tuned(name, known)
        built = build_named(name, candidate, open_presets())
        if built is not None:
            return Resolved(name, built.arch, built.notes, built.origin)
        known = open_presets().find(bare(candidate))
        if known is not None:
            return _tuned(name, known)
    return None


def open_presets() -> Presets:
    """The models of the catalogue, the user's own included."""
    return load_presets(find_overlay())


def refuse(name: str) -> UsageError:
    """The error for a name that nothing resolves, listing the nearest models."""
    near = open_presets().nearest(bare_name(name))
    accepted = f"nearest: {', '.join(near)}" if near else "an id such as Qwen/Qwen3-8B"
    return UsageError("model", f"unknown {name[:120]!r}", f"{accepted}; or a path, or hf:ORG/NAME")


def _tuned(name: str, preset: Preset) -> Resolved:
    """A model of the same shape under another name, stored alike."""
    same = bare(bare_name(name)) == bare(preset.id)
    note = () if same else (f"{name}: taken to have the shape of {preset.id}",)
    return Resolved(name, from_record(preset.record), (*note, *preset.notes), preset.origin)
