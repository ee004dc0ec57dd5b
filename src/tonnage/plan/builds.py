"""Builds of a known model whose name ends in a format (`RedHatAI/Qwen3-14B-FP8-dynamic`)."""

from __future__ import annotations

from tonnage.catalog.derive import list_bases
from tonnage.catalog.models import bare
from tonnage.model.quantization.derived import scheme_from_name
from tonnage.model.quantization.formats import FP8_TENSOR_STATIC
from tonnage.model.quantization.kept import TOWERS
from tonnage.model.quantization.precision import NARROW
from tonnage.model.quantization.scheme import Rule
from tonnage.model.record import from_record
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.models import Preset, Presets
    from tonnage.model.arch import Arch
    from tonnage.model.quantization.derived import Derived
    from tonnage.model.quantization.scheme import Scheme

# nvidia's tables of Qwen 3.6 (27B and 35B-A3B): attention of both kinds in fp8, the rest in NVFP4. That Unsloth's
# builds are made alike is inferred from one model: Qwen3.8-27B loads 21.34 GiB, 21.33 by this rule, 18.4 all in fp4.
MODELOPT_OWNERS = ("nvidia", "unsloth")
HYBRID_FAMILIES = ("qwen3_5", "qwen3_5_moe")
ATTENTION = ("**.self_attn", "**.linear_attn")
# What one builder leaves in 16 bit: of Qwen3-Next all but the routed experts (its recipe.yaml), of Gemma 4 the MLP
# beside them (17.2 GB of the 26B build; 16.4 with that MLP in four bits).
CYANKIWI = ("cyankiwi", "cpatonn")
KEPT_BY_CYANKIWI = {"qwen3_next": (*ATTENTION, "**.shared_expert"), "gemma4": ("**.mlp",)}
# All of Laguna's quantised checkpoints but those of Laguna M state an fp8 cache (vLLM recipes, `models/poolside`).
FP8_CACHE_OWNER, FP8_CACHE_EXCEPT = "poolside", "laguna-m"


@value
class Build:
    """A derived architecture, how it was derived, and where its base comes from."""

    arch: Arch
    notes: tuple[str, ...]
    origin: str


def build_named(name: str, candidate: str, presets: Presets) -> Build | None:
    """The build that `candidate`, a spelling of `name`, means; None if it ends in no format or its base is unknown."""
    derived = scheme_from_name(candidate)
    preset = _base_of(derived, presets) if derived else None
    if derived is None or preset is None:
        return None
    arch = from_record(preset.record)
    owner = candidate.rpartition("/")[0].lower()
    # Only with the base known is it known whether it has experts, which some formats treat alone.
    scheme = _with_owner((scheme_from_name(candidate, arch.has_experts) or derived).scheme, owner, arch)
    how = f"{scheme.method} ({scheme.source})" if scheme else "16-bit floats"
    arch = replace(arch, scheme=scheme, kv_dtype=_cache_type(scheme, owner, candidate))
    return Build(arch, (f"{name}: {preset.id} stored in {how}, as its name says", *preset.notes), preset.origin)


def _base_of(derived: Derived, presets: Presets) -> Preset | None:
    names = (spelling for base in derived.bases for name in list_bases(base) for spelling in (name, bare(name)))
    return next((found for name in names if (found := presets.find(name)) is not None), None)


def _cache_type(scheme: Scheme | None, owner: str, name: str) -> str | None:
    """The cache type that the build states."""
    if scheme is None:
        return None
    is_stated = owner == FP8_CACHE_OWNER and FP8_CACHE_EXCEPT not in name.lower()
    return "fp8" if is_stated else scheme.kv_dtype


def _with_owner(scheme: Scheme | None, owner: str, arch: Arch) -> Scheme | None:
    """The scheme with what is known of the builder's habits."""
    if scheme is None:
        return None
    if owner in CYANKIWI and arch.has_experts and arch.family in KEPT_BY_CYANKIWI:
        rules = (Rule("", None, KEPT_BY_CYANKIWI[arch.family]), *scheme.rules)
        return replace(scheme, rules=rules, source=f"{scheme.source}; cyankiwi keeps always active modules in 16 bit")
    is_mixed = owner in MODELOPT_OWNERS and arch.family in HYBRID_FAMILIES
    return _modelopt(scheme) if is_mixed else scheme


def _modelopt(scheme: Scheme) -> Scheme:
    if not any(rule.format and rule.format.name.startswith("nvfp4") for rule in scheme.rules):
        return scheme
    kept = Rule("", None, (*NARROW, *TOWERS))
    rules = (kept, Rule("", FP8_TENSOR_STATIC, ATTENTION), *scheme.rules)
    return replace(scheme, rules=rules, source="nvidia's tables of Qwen 3.6: attention in fp8, the rest in NVFP4")
