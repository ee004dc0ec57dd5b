"""What-if precisions: a model as if it were published in another format."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from tonnage.errors import UsageError
from tonnage.model.arch import Arch
from tonnage.model.ffn.moe import Moe
from tonnage.model.quantization.precision import ALIASES, OTHER_FILES, RECIPES, UNQUANTISED, scheme_for
from tonnage.model.quantization.scheme import Format, Scheme

# How the names of formats begin -> the kind people mean. Longer ones first.
KINDS = (
    ("fp8", "fp8"), ("mxfp8", "mxfp8"), ("mxfp6", "mxfp6"), ("mxfp4", "mxfp4"), ("nvfp4", "nvfp4"), ("nf4", "nf4"),
    ("pack-int4", "int4"), ("int4", "int4"), ("w4a8", "int4"), ("pack-int8", "int8"), ("int8", "int8"), ("fp32", "fp32"),
)  # fmt: skip
# People say fp4 for both of its forms.
FP4, FP4_KINDS = "fp4", frozenset(("nvfp4", "mxfp4"))
AS_STORED = ("native", "mixed")


class Asked(NamedTuple):
    """A model in the precision asked for, and what had to be assumed."""

    arch: Arch
    notes: tuple[str, ...]


def apply_precision(arch: Arch, text: str) -> Asked:
    """`arch` in precision `text` (`fp8`, `awq`, `compressed-tensors int4 (native)`).

    A checkpoint that is stored in this kind of format already stays as it is; otherwise its scheme is replaced by that
    of a usual build. UsageError for unknown precisions and for those that only other files have (GGUF, EXL3).
    """
    name = read_precision(text)
    stored = stored_kinds(arch.scheme)
    if name is None:
        return Asked(arch, ())
    scheme = scheme_for(name, is_mixture(arch))
    wanted = FP4_KINDS if name == FP4 else stored_kinds(scheme)
    if stored & wanted or stored == wanted:
        return Asked(arch, ())
    changed = replace(arch, scheme=scheme, kv_dtype=scheme.kv_dtype if scheme else None)
    was = " and ".join(sorted(stored)) or "16-bit floats"
    how = f": {scheme.source}" if scheme and scheme.source else ""
    return Asked(changed, (f"stored as {was}, taken as if published in {name}{how}",))


def read_precision(text: str) -> str | None:
    """The name of a precision in a free text; None for one that says only that nothing was changed."""
    bare, _, remark = text.lower().replace("+", "-").partition("(")
    words = [word for word in bare.replace("/", " ").split() if word.strip("-")]
    for name in ("-".join(words), *reversed(words), remark.rstrip(") ")):
        if name in OTHER_FILES:
            raise UsageError("precision", text, OTHER_FILES[name])
        if name in RECIPES or name in ALIASES or name in UNQUANTISED:
            return name
    if set(words) & set(AS_STORED):
        return None
    scheme_for(text)
    return None


def stored_kinds(scheme: Scheme | None) -> frozenset[str]:
    """The kinds of formats in a scheme; empty for 16-bit floats."""
    rules = scheme.rules if scheme else ()
    return frozenset(kind for rule in rules if rule.format and (kind := _kind(rule.format)))


def _kind(form: Format) -> str | None:
    return next((kind for start, kind in KINDS if form.name.startswith(start)), None)


def is_mixture(arch: Arch) -> bool:
    """Whether some layer has routed experts."""
    return any(isinstance(part, Moe) for layer in set(arch.layers) for part in layer.ffns)
