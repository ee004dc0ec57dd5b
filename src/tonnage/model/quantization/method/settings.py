"""What every method's reader is given, and values that several methods write alike."""

from __future__ import annotations

from collections.abc import Mapping

from tonnage.errors import UnknownKeyError
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.model.config.keys import Config

GROUP_MAX = 1 << 20


@value
class Settings:
    """A checkpoint's quantisation settings beside the configuration of its model."""

    quant: Config
    model: Config

    def skipped(self, *keys: str) -> tuple[str, ...]:
        """Module names of the first list that is present and not empty."""
        return next((names for key in keys if (names := self.quant.strs(key))), ())


def objects(table: Config | None) -> Iterator[tuple[str, Config]]:
    """The named objects inside a table; null entries are passed over, anything else is refused."""
    for key in table.values if table else ():
        if table is not None and (entry := table.sub(key)) is not None:
            yield str(key), entry


def group_size(config: Config, *keys: str, default: int | None = None) -> int | None:
    """Input features per scale; -1 and null mean the whole row (None), 0 is refused."""
    size = config.opt_int(*keys, least=-1, most=GROUP_MAX)
    if size == 0:
        raise config.unknown(keys[0], 0, "a positive number, or -1 for one scale per row")
    return default if size is None else None if size < 0 else size


def kv_dtype(value: object) -> str | None:
    """The KV-cache type that a checkpoint's key asks for: `fp8`, `int8`, `nvfp4`, or None for the model's dtype.

    Accepted are names (`FP8`), `static` (AMD's fp8 builds: fp8 with static scales) and compressed-tensors objects
    of `type` and `num_bits`.
    """
    if isinstance(value, Mapping):
        value = f"{value.get('type')}{value.get('num_bits')}"
    if value is None:
        return None
    name = KV_NAMES.get(value.lower()) if isinstance(value, str) else None
    if name is None:
        raise UnknownKeyError("kv_cache_scheme", repr(value)[:64], f"one of {', '.join(KV_NAMES)}")
    return None if name == "auto" else name


KV_NAMES = {
    "fp8": "fp8",
    "fp8_e4m3": "fp8",
    "float8": "fp8",
    "static": "fp8",
    "dynamic": "fp8",
    "int8": "int8",
    "nvfp4": "nvfp4",
    "float4": "nvfp4",
    "none": "auto",
    "auto": "auto",
    "": "auto",
}
