"""Models from files: folders, single files and repositories of the hub."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.seams.place import open_place
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Arch
    from tonnage.model.headers.entry import TensorEntry
    from tonnage.model.headers.gguf.header import Metadata
    from tonnage.model.headers.summary import Summary
    from tonnage.model.read import Source
    from tonnage.seams.store import Opener

# The contract's bound between what headers say and what the architecture implies, in percent.
GAP_PERCENT = 5
PERCENT = 100


@value
class Opened:
    """An architecture read from files, with what their headers list (None without headers)."""

    arch: Arch
    notes: tuple[str, ...]
    origin: str
    headers: Summary | None


def open_source(place: str, trust: str | None, opener: Opener = open_place) -> Opened:
    """The model at `place`. A gap above 5 % between headers and architecture is an UnreadableError unless trusted."""
    from tonnage.model.read import read_source

    source = read_source(place, opener)
    arch = _read(place, source)
    if source.entries is None:
        return Opened(arch, source.notes, source.origin, None)
    from tonnage.model.headers.summary import summarise

    headers = summarise(source.entries)
    if source.gguf_metadata is not None:
        return Opened(arch, source.notes, source.origin, headers)
    checked = _check(place, arch, source.entries, trust)
    return Opened(checked.arch, (*source.notes, *checked.notes), source.origin, headers)


def _read(place: str, source: Source) -> Arch:
    if source.gguf_metadata is not None:
        return _read_gguf(source.gguf_metadata, source.entries or ())
    if source.config is None:
        raise UnreadableError(place, "tensors without config.json", "a folder with its config.json, or a GGUF file")
    from tonnage.model.config.arch import read_arch
    from tonnage.model.quantization.read import read_scheme

    return read_arch(source.config, read_scheme(source.config, source.quant_config))


def _read_gguf(metadata: Metadata, entries: tuple[TensorEntry, ...]) -> Arch:
    from tonnage.model.headers.gguf.arch import gguf_arch
    from tonnage.model.headers.gguf.scheme import gguf_scheme

    return replace(gguf_arch(metadata, entries), scheme=gguf_scheme(entries))


@value
class Checked:
    """An architecture compared with headers, and the difference in words if there is one."""

    arch: Arch
    notes: tuple[str, ...]


def _check(place: str, arch: Arch, entries: tuple[TensorEntry, ...], trust: str | None) -> Checked:
    size = sum(entry.stored_bytes for entry in entries)
    gap = _gap(arch, size)
    if gap is None:
        return Checked(arch, ())
    if trust is None:
        raise UnreadableError(place, gap, f"at most {GAP_PERCENT} % apart, or --trust headers|config")
    if trust == "config":
        return Checked(arch, (f"{gap}; the configuration trusted",))
    from tonnage.model.headers.safetensors.scheme import ANY_FORMAT, header_scheme

    method = arch.scheme.method if arch.scheme else ANY_FORMAT
    arch = replace(arch, scheme=header_scheme(entries, method))
    rest = _gap(arch, size)
    return Checked(arch, (f"{gap}; formats taken from the headers", *([f"even so {rest}"] if rest else [])))


def _gap(arch: Arch, size: int) -> str | None:
    """The two sizes where they are too far apart, None where they agree."""
    from tonnage.layout.parts import gather_parts
    from tonnage.plan.stored import stored_size

    implied = stored_size(gather_parts(arch))
    is_near = abs(size - implied) * PERCENT <= GAP_PERCENT * implied
    return None if is_near else f"headers list {size} bytes, the architecture implies {implied}"
