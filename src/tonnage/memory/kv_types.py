"""Element types and record formats of a cache."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.model.dtypes import ELEMENT_BYTES
from tonnage.model.mixer.compressed import Compressed
from tonnage.units import ceil_div, round_up
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.model.arch import Arch


@value
class CacheFormat:
    """Storage of one vector of a head: `bits` per value, `head_bytes` for its scale, one byte per `group` values."""

    bits: int
    head_bytes: int = 0
    group: int | None = None


@value
class Record:
    """A compressed latent entry as packed bytes: its size, the alignment of a page and the raw window's block."""

    entry_bytes: int
    alignment: int
    window_block: int


# vLLM `v1/kv_cache_interface.py`: a 4-byte scale per token and head, or one byte per 16 values in fp4.
BYTE, NIBBLE = CacheFormat(8), CacheFormat(4, group=16)
FORMATS = {
    "fp8": BYTE, "fp8_e4m3": BYTE, "fp8_e5m2": BYTE, "fp8_inc": BYTE, "fp8_ds_mla": BYTE, "nvfp4": NIBBLE,
    "int8_per_token_head": CacheFormat(8, 4), "fp8_per_token_head": CacheFormat(8, 4),
    "int4_per_token_head": CacheFormat(4, 4),
}  # fmt: skip
SHORT_NAMES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
# Keys and values differ (vLLM `quantization/turboquant/config.py`): a norm per key, scale and zero point per value.
TURBO_KEY_NORM, TURBO_VALUE_SCALES = 2, 4
PAIRS = {
    "turboquant_k8v4": (BYTE, CacheFormat(4, TURBO_VALUE_SCALES)),
    "turboquant_4bit_nc": (CacheFormat(4, TURBO_KEY_NORM), CacheFormat(4, TURBO_VALUE_SCALES)),
    "turboquant_k3v4_nc": (CacheFormat(3, TURBO_KEY_NORM), CacheFormat(4, TURBO_VALUE_SCALES)),
    "turboquant_3bit_nc": (CacheFormat(3, TURBO_KEY_NORM), CacheFormat(3, TURBO_VALUE_SCALES)),
}
# DeepSeek V4: 448 B of fp8, 64 bf16 values and 8 B of scales, FlashMLA's 576 B page stride.
V4_RECORD = Record(584, 576, 64)
# DeepSeek V4.1: 512 fp8 values and 16 B of block scales, 512 B page stride (vLLM `models/deepseek_v41/attention.py`).
V41_RECORD = Record(528, 512, 32)
FIRST_V4_RATIO = 4  # DeepSeek V4.1 compresses by 1 or 2


@value
class CacheTypes:
    """Types of all caches of a model, already resolved from `auto`.

    `attention` is the cache type of keys and values, `model` the type of convolution states. `latent_entry_bytes`
    replaces the latent vector's elements where a kernel packs it. `index` is the type of selector keys. `state` forces
    the type of recurrent states; None leaves the model's choice.
    """

    attention: str
    model: str
    latent_entry_bytes: int | None = None
    index: Literal["fp8", "mxfp4"] = "fp8"
    record: Record = V4_RECORD
    state: str | None = None


def record_of(arch: Arch) -> Record:
    """The record of a model's compressed entries, by how many tokens share one."""
    ratios = (mixer.ratio for mixer in arch.mixers if isinstance(mixer, Compressed))
    return V41_RECORD if any(0 < ratio < FIRST_V4_RATIO for ratio in ratios) else V4_RECORD


def head_bytes(dtype: str, key_width: int, value_width: int) -> int:
    """Bytes of one head's key and value of one token."""
    if dtype in PAIRS:
        key, value = PAIRS[dtype]
        return round_up(_formatted(key, key_width) + _formatted(value, value_width), 2)
    return vector_bytes(dtype, key_width) + vector_bytes(dtype, value_width)


def vector_bytes(dtype: str, width: int) -> int:
    """Bytes of one cached vector of `width` values; an unknown type is a UsageError."""
    name = SHORT_NAMES.get(dtype, dtype.removeprefix("torch."))
    if name in ELEMENT_BYTES:
        return width * ELEMENT_BYTES[name]
    if name not in FORMATS:
        raise UsageError("KV cache type", dtype, f"one of {', '.join((*ELEMENT_BYTES, *FORMATS, *PAIRS))}")
    return _formatted(FORMATS[name], width)


def _formatted(form: CacheFormat, width: int) -> int:
    scales = ceil_div(width, form.group) if form.group else 0
    return ceil_div(width * form.bits, 8) + form.head_bytes + scales
