"""Bytes that one token of the pool costs on a rank.

Source: SGLang `model_executor/pool_configurator.py`; `model_executor/model_runner.py` before 0.5.20.
"""

from __future__ import annotations

from tonnage.engines.sglang.compressed import compressed_cell
from tonnage.engines.sglang.version import Version
from tonnage.memory.kv import Share, kv_specs
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.units import ceil_div
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.memory.kv_spec import KvSpec
    from tonnage.memory.kv_types import CacheTypes
    from tonnage.memory.rank_view import RankView
    from tonnage.model.arch import Mixer

# Model classes whose window layers get a pool of their own (SGLang `configs/model_config.py` is_hybrid_swa_model);
# windows of all others are cached in full.
WINDOWED = ("Llama4For", "GptOssFor", "MiMoV2", "Step3p5", "Step3p7", "Gemma4For", "LagunaFor")
FIRST_WITH_WINDOW_POOL = Version(0, 4, 9)
# --swa-full-tokens-ratio: the window pool holds 0.8 of the tokens of the full one.
WINDOW_TOKENS, FULL_TOKENS = 8, 10


@value
class Cell:
    """A token takes `numerator` / `denominator` bytes; `fixed_bytes` of the pool are taken before the first."""

    numerator: int
    denominator: int = 1
    fixed_bytes: int = 0

    def tokens(self, pool_bytes: int, page: int) -> int:
        """Whole pages that fit in `pool_bytes`, in tokens; without any cache per token there is no limit to count."""
        room = max(0, pool_bytes - self.fixed_bytes)
        return room * self.denominator // self.numerator // page * page if self.numerator else 0

    def bytes(self, tokens: int) -> int:
        """Bytes of a pool of `tokens`."""
        return ceil_div(tokens * self.numerator, self.denominator) + self.fixed_bytes


def cell_of(version: Version, view: RankView, types: CacheTypes) -> Cell:
    """The cell of the caches that grow with the context."""
    if any(isinstance(mixer, Compressed) for mixer in view.mixers):
        return compressed_cell_of(version, view, types)
    specs = kv_specs([_owning(mixer) for mixer in view.mixers], Share(view.widths.attention, types))
    full = _bytes(spec for spec in specs if spec.grows)
    windows = _bytes(spec for spec in specs if spec.kind in ("sliding", "chunked"))
    if not _has_window_pool(version, view):
        return Cell(full + windows)
    # A model of window layers alone has no full pool to relate to.
    return Cell(FULL_TOKENS * full + WINDOW_TOKENS * windows, FULL_TOKENS) if full else Cell(windows)


def compressed_cell_of(version: Version, view: RankView, types: CacheTypes) -> Cell:
    """The cell of DeepSeek V4, whose pools of entries, windows and compressor states share one budget."""
    mixers = [mixer for mixer in view.mixers if isinstance(mixer, Compressed)]
    numerator, denominator, fixed = compressed_cell(version, mixers, types, view.serving.max_num_seqs)
    return Cell(numerator, denominator, fixed)


def _owning(mixer: Mixer) -> Mixer:
    """The mixer with a cache of its own: SGLang sizes its pools by layers, even those that read another's cache."""
    return replace(mixer, kv_from_layer=None) if isinstance(mixer, Gqa) else mixer


def _bytes(specs: Iterable[KvSpec]) -> int:
    return sum(spec.entry_bytes * spec.layers for spec in specs)


def _has_window_pool(version: Version, view: RankView) -> bool:
    names = view.parts.arch.architectures
    return version >= FIRST_WITH_WINDOW_POOL and any(name.startswith(WINDOWED) for name in names)
