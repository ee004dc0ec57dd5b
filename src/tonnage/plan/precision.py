"""What-if precisions: a model as if it were published in another format."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.model.quantization.formats import INT4_BITS, int_pack_quantized
from tonnage.model.quantization.ggml import find_ggml, ggml_scheme
from tonnage.model.quantization.precision import ALIASES, OTHER_FILES, RECIPES, UNQUANTISED, scheme_for
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Arch
    from tonnage.model.quantization.scheme import Format, Scheme

GGUF = "gguf"
ONLINE = "online-"  # `online-fp8`: quantised by the engine, not by the publisher
# How the names of formats begin -> the kind people mean.
KINDS = (
    ("fp8", "fp8"),
    ("mxfp8", "mxfp8"),
    ("mxfp6", "mxfp6"),
    ("mxfp4", "mxfp4"),
    ("nvfp4", "nvfp4"),
    ("nf4", "nf4"),
    ("pack-int4", "int4"),
    ("int4", "int4"),
    ("w4a8", "int4"),
    ("pack-int8", "int8"),
    ("int8", "int8"),
    ("fp32", "fp32"),
    ("ggml", GGUF),
)
# People say fp4 for both of its forms.
FP4, FP4_KINDS = "fp4", frozenset(("nvfp4", "mxfp4"))
# torchao's dynamic activations do not change what is stored.
SYNONYMS = {"int8-dynamic-act": "int8"}
AS_STORED = ("native", "mixed")
GROUPED, GROUP_DIGITS = "int4-g", 4


@value
class Asked:
    """A model in the precision asked for, and what had to be assumed."""

    arch: Arch
    notes: tuple[str, ...]


def apply_precision(arch: Arch, text: str) -> Asked:
    """`arch` in precision `text` (`fp8`, `awq`, `compressed-tensors int4 (native)`, `q4_k_m`).

    A checkpoint that is stored in this kind of format already stays as it is; otherwise its scheme is replaced by that
    of a usual build. `online-fp8` is what an engine makes of a 16-bit checkpoint while loading it. UsageError for
    unknown precisions and for those that only other files have (GGUF, EXL3).
    """
    if text.startswith(ONLINE):
        return _online(text, arch)
    stored = stored_kinds(arch.scheme)
    if find_precision(text) == GGUF and GGUF in stored:
        return Asked(arch, ())
    name = read_precision(text)
    if name is None:
        return Asked(arch, ())
    scheme = _scheme(name, arch)
    wanted = FP4_KINDS if name == FP4 else stored_kinds(scheme)
    if stored & wanted or stored == wanted:
        return Asked(arch, ())
    changed = replace(arch, scheme=scheme, kv_dtype=scheme.kv_dtype if scheme else None)
    was = " and ".join(sorted(stored)) or "16-bit floats"
    how = f": {scheme.source}" if scheme and scheme.source else ""
    return Asked(changed, (f"stored as {was}, taken as if published in {name}{how}",))


def read_precision(text: str) -> str | None:
    """The name of a precision in a free text; None for one that says only that nothing was changed.

    UsageError for texts that name none, and for those that only other files have.
    """
    name = find_precision(text)
    if name is None and set(_words(text)) & set(AS_STORED):
        return None
    if name is None or name in OTHER_FILES:
        # It raises, with the list of names or the way to such files.
        scheme_for(name or text)
    return name


def find_precision(text: str) -> str | None:
    """The name of a precision in a free text, the most specific first; None if there is none."""
    words = _words(text)
    names = ["-".join(words), *reversed(words), text.partition("(")[2].rstrip(") ").lower()]
    known = [SYNONYMS.get(name, name) for name in names if _is_known(SYNONYMS.get(name, name))]
    # `Q8_0 GGUF` is a tensor type first.
    return min(known, key=lambda name: name in OTHER_FILES, default=None)


def _words(text: str) -> list[str]:
    bare = text.lower().replace("+", "-").partition("(")[0].replace("/", " ")
    return [word for word in bare.split() if word.strip("-")]


def _is_known(name: str) -> bool:
    tables = (OTHER_FILES, RECIPES, ALIASES, UNQUANTISED)
    return any(name in table for table in tables) or _group_of(name) is not None or find_ggml(name) is not None


def _online(text: str, arch: Arch) -> Asked:
    """`arch` quantised by the engine while loading, as its flag `--quantization` does."""
    if stored_kinds(arch.scheme):
        raise UsageError("precision", text, "a checkpoint in 16-bit floats; this one is stored quantised")
    from tonnage.model.quantization.online import online_scheme

    method = text.removeprefix(ONLINE)
    return Asked(replace(arch, scheme=online_scheme(method)), (f"quantised to {method} while loading",))


def _scheme(name: str, arch: Arch) -> Scheme | None:
    group = _group_of(name)
    if group is not None:
        return _regrouped(group)
    # MXFP4 and NVFP4 are tensor types of llama.cpp too; by themselves the names mean builds for other engines.
    is_own = name not in RECIPES and name not in ALIASES
    return (ggml_scheme(name, len(arch.layers)) if is_own else None) or scheme_for(name, arch.has_experts)


def _group_of(name: str) -> int | None:
    """The group of `int4-g64`, None for other names."""
    digits = name.removeprefix(GROUPED)
    is_group = name.startswith(GROUPED) and digits.isascii() and digits.isdecimal() and len(digits) <= GROUP_DIGITS
    return int(digits) or None if is_group else None


def _regrouped(group: int) -> Scheme | None:
    """A weight-only build in four bits with another group than the usual one."""
    scheme = scheme_for("w4a16")
    if scheme is None:
        return None
    form = int_pack_quantized(INT4_BITS, group)
    rules = tuple(replace(rule, format=form) if rule.format else rule for rule in scheme.rules)
    return replace(scheme, rules=rules)


def stored_kinds(scheme: Scheme | None) -> frozenset[str]:
    """The kinds of formats in a scheme; empty for 16-bit floats."""
    rules = scheme.rules if scheme else ()
    return frozenset(kind for rule in rules if rule.format and (kind := _kind(rule.format)))


def _kind(form: Format) -> str | None:
    return next((kind for start, kind in KINDS if form.name.startswith(start)), None)
