"""Which of the files in a folder or repository make up the model."""

from __future__ import annotations

from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIG = "config.json"
QUANT_CONFIG = "hf_quant_config.json"
INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
SAFETENSORS = ".safetensors"
GGUF = ".gguf"
# The same weights a second time, in the publisher's own layout; the engines leave them out.
CONSOLIDATED = "consolidated"
# Files beside a model that are none of its weights: adapters, and vision parts of a GGUF model.
ADAPTER = "adapter_"
PROJECTOR = "mmproj"


@value
class ModelFiles:
    """Names of the files that matter, None or empty where there is none.

    `shards` are the safetensors files to read when there is no index.
    """

    config: str | None
    quant_config: str | None
    index: str | None
    shards: tuple[str, ...]
    ggufs: tuple[str, ...]


def pick_files(names: Sequence[str]) -> ModelFiles:
    """The model files among `names`; files in sub-folders (names with a slash) are left out."""
    flat = sorted(name for name in names if "/" not in name)
    return ModelFiles(
        CONFIG if CONFIG in flat else None,
        QUANT_CONFIG if QUANT_CONFIG in flat else None,
        INDEX if INDEX in flat else None,
        _pick_shards([name for name in flat if name.endswith(SAFETENSORS) and not name.startswith(ADAPTER)]),
        tuple(name for name in flat if name.endswith(GGUF) and PROJECTOR not in name.lower()),
    )


def _pick_shards(names: list[str]) -> tuple[str, ...]:
    if SINGLE in names:
        return (SINGLE,)
    ordinary = [name for name in names if not name.startswith(CONSOLIDATED)]
    return tuple(ordinary or names)
