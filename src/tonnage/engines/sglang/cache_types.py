"""The cache types SGLang settles on for a model, a card and an asked type."""

from __future__ import annotations

from tonnage.engines.sglang.stored import compute_dtype
from tonnage.engines.sglang.version import Version
from tonnage.memory.kv_types import CacheTypes, record_of
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.mla import Mla
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.model.arch import Arch

AUTO, FP8, HALF, STATE = "auto", "fp8_e4m3", "bfloat16", "float32"
ALIASES = {"bf16": HALF, "fp8": FP8, "fp4_e2m1": "nvfp4"}
# `auto` follows the checkpoint where ModelOpt states a cache type (SGLang `model_runner.py` configure_kv_cache_dtype).
FOLLOWED_METHODS, FIRST_FOLLOWING = ("modelopt",), Version(0, 5, 4)
# Sparse latent attention in fp8: rows of 512 fp8 values, 4 fp32 scales and 64 rotary values of 16 bit, except where a
# kernel reads plain rows: the TRT-LLM one on data-centre Blackwell, the ROCm ones (`calculate_mla_kv_cache_dim`).
PACKED_ROW_BYTES = 656
BLACKWELL = "sm_10"
FIRST_PLAIN_BLACKWELL = Version(0, 5, 10)
# Before, on ROCm, the pool was planned with plain rows and allocated with packed ones: it overshot its budget.
FIRST_PLAIN_ROCM = Version(0, 5, 10)


@value
class PoolTypes:
    """Types by which the pool is planned, and those it is allocated with; they differ in some versions."""

    planned: CacheTypes
    allocated: CacheTypes


def cache_dtype(asked: str | None, arch: Arch, version: Version, card: Accelerator) -> str:
    """The type of keys and values for an asked `--kv-cache-dtype`; remarks in brackets are dropped."""
    name = (asked or AUTO).lower().partition("(")[0].strip()
    if arch.has_mixer(Compressed):
        return FP8
    if name != AUTO:
        return ALIASES.get(name, name)
    if is_sparse(arch):
        return FP8 if (card.target or "").startswith(BLACKWELL) else HALF
    return _checkpoint_type(arch, version) or compute_dtype(arch.dtype)


def _checkpoint_type(arch: Arch, version: Version) -> str | None:
    is_followed = arch.scheme is not None and arch.scheme.method in FOLLOWED_METHODS and version >= FIRST_FOLLOWING
    return ALIASES.get(arch.kv_dtype, arch.kv_dtype) if is_followed and arch.kv_dtype else None


def pool_types(dtype: str, arch: Arch, version: Version, card: Accelerator) -> PoolTypes:
    """All cache types of a model whose keys and values are stored as `dtype`."""
    packed = PACKED_ROW_BYTES if dtype == FP8 and is_sparse(arch) else None
    is_blackwell = (card.target or "").startswith(BLACKWELL)
    if is_blackwell and version >= FIRST_PLAIN_BLACKWELL:
        packed = None
    if card.vendor != "amd":
        types = _types(dtype, arch, packed)
        return PoolTypes(types, types)
    allocated = None if version >= FIRST_PLAIN_ROCM else packed
    return PoolTypes(_types(dtype, arch, None), _types(dtype, arch, allocated))


def _types(dtype: str, arch: Arch, packed: int | None) -> CacheTypes:
    own = compute_dtype(arch.dtype)
    return CacheTypes(dtype, own, latent_entry_bytes=packed, record=record_of(arch), state=STATE)


def is_sparse(arch: Arch) -> bool:
    """Whether latent attention reads only selected tokens."""
    return any(isinstance(mixer, Mla) and (mixer.is_sparse or mixer.indexer is not None) for mixer in arch.mixers)
