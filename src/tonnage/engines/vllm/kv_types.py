"""The cache types vLLM settles on for a model, a card and an asked type."""

from __future__ import annotations

from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_types import CacheTypes, record_of
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_request import Platform
    from tonnage.model.arch import Arch

AUTO = "auto"
FLOAT32, HALF = "float32", "bfloat16"
FP8 = "fp8"
PACKED_LATENT = "fp8_ds_mla"
PACKED_LATENT_FP4 = "nvfp4_ds_mla"
# FlashMLA sparse rows (vLLM `layers/attention/mla_attention.py`): 512 fp8, 4 fp32 scales, 64 bf16; and in fp4.
PACKED_ENTRY_BYTES, PACKED_FP4_ENTRY_BYTES = 656, 352
# Whose cache types `auto` follows, and since when (vLLM `utils/torch_utils.py`, `layers/attention/attention.py`).
FOLLOWED = {"modelopt": Version(0, 12), "compressed-tensors": Version(0, 15)}
BLACKWELL, WORKSTATION = "sm_10", "sm_12"


def cache_types(
    asked: str, arch: Arch, version: Version, platform: Platform = "cuda", target: str | None = None
) -> CacheTypes:
    """Cache types for an asked `--kv-cache-dtype`; `auto` follows the checkpoint where the engine reads it there.

    On a CPU recurrent states are kept in 32 bits (vLLM `platforms/cpu.py`).
    """
    dtype = compute_dtype(arch.dtype)
    stated = asked if asked != AUTO else _checkpoint_type(arch, version) or dtype
    return CacheTypes(
        attention=FP8 if stated in (PACKED_LATENT, PACKED_LATENT_FP4) else stated,
        model=dtype,
        latent_entry_bytes=_packed_entry(stated, arch, platform, target),
        record=record_of(arch),
        state=FLOAT32 if platform == "cpu" else None,
    )


def _checkpoint_type(arch: Arch, version: Version) -> str | None:
    first = FOLLOWED.get(arch.scheme.method) if arch.scheme else None
    is_read = arch.scheme is not None and arch.scheme.is_declared
    return arch.kv_dtype if is_read and first is not None and version >= first else None


def compute_dtype(dtype: str) -> str:
    """The type a model runs in: checkpoints in 32 bits are cast down (vLLM `config/model.py` _resolve_auto_dtype)."""
    return HALF if dtype.removeprefix("torch.") in (FLOAT32, "float") else dtype


def _packed_entry(stated: str, arch: Arch, platform: Platform, target: str | None) -> int | None:
    if stated == PACKED_LATENT_FP4:
        return PACKED_FP4_ENTRY_BYTES
    if stated == PACKED_LATENT:
        return PACKED_ENTRY_BYTES
    name = target or ""
    # A packed row ends in rotary values; latents without them are kept plain (GLM 5.3 Flash).
    latent = [mixer for mixer in arch.mixers if isinstance(mixer, Mla) and mixer.rope_dim]
    is_sparse = any(mixer.is_sparse or mixer.indexer for mixer in latent)
    if not is_sparse or platform != "cuda" or name.startswith(BLACKWELL):
        return None
    # Hopper's sparse kernel packs fp8 rows, the workstation Blackwell's knows no others; data-centre Blackwell and
    # AMD read plain fp8.
    return PACKED_ENTRY_BYTES if stated.startswith(FP8) or name.startswith(WORKSTATION) else None
