"""What one device caches, for any number of cells.

Sources: llama.cpp `src/llama-kv-cache.cpp`, `llama-kv-cache-iswa.cpp`, `llama-memory-recurrent.cpp`; for the modes of
latent attention ik_llama.cpp `src/llama.cpp`.
"""

from __future__ import annotations

from tonnage.engines.llamacpp.cache_types import CachePair, row_bytes
from tonnage.memory.kv import Share, caches_of
from tonnage.memory.kv_types import CacheTypes
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.units import ceil_div, round_up
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.engines.llamacpp.build import Build
    from tonnage.model.arch import Mixer

CELL_MULTIPLE = 256  # contexts and windows are padded to it
# How states are kept: whole, whatever the model's own types.
STATES = Share(1, CacheTypes("float32", "float32", state="float32"))


@value
class Grown:
    """Layers whose cells count tokens: `cell_bytes` together, an entry for every `ratio` tokens."""

    cell_bytes: int
    window: int | None = None
    ratio: int = 1


@value
class DeviceCache:
    """Caches of a device: those that grow, and fixed `state_bytes` for each of `slots` sequences."""

    grown: tuple[Grown, ...]
    state_bytes: int
    slots: int
    batch: int

    def bytes(self, context: int) -> int:
        """Bytes of a cache of `context` tokens, shared by all slots."""
        growing = sum(grown.cell_bytes * self.cells(grown, context) for grown in self.grown)
        return growing + self.state_bytes * self.slots

    def cells(self, grown: Grown, context: int) -> int:
        """Cells of a layer: the padded context, or the windows of all slots and one batch."""
        whole = round_up(context, CELL_MULTIPLE) // grown.ratio
        if grown.window is None:
            return whole
        return min(whole, round_up(min(whole, grown.window * self.slots + self.batch), CELL_MULTIPLE))

    @property
    def token_bytes(self) -> int:
        """Growth per token of context once the windows are full, rounded up."""
        return sum(ceil_div(grown.cell_bytes, grown.ratio) for grown in self.grown if grown.window is None)


def device_cache(build: Build, mixers: Iterable[Mixer], pair: CachePair, slots: int, batch: int) -> DeviceCache:
    """The caches of a device that holds `mixers`; `batch` tokens are computed at once."""
    sizes: dict[tuple[int | None, int], int] = {}
    states = 0
    for mixer in mixers:
        states += _state_bytes(mixer)
        for grown in _grown(build, mixer, pair):
            key = (grown.window, grown.ratio)
            sizes[key] = sizes.get(key, 0) + grown.cell_bytes
    merged = tuple(Grown(size, window, ratio) for (window, ratio), size in sizes.items())
    return DeviceCache(merged, states, slots, batch)


def _grown(build: Build, mixer: Mixer, pair: CachePair) -> tuple[Grown, ...]:
    match mixer:
        case Gqa():
            return _gqa(build, mixer, pair)
        case Mla():
            return _mla(build, mixer, pair)
        case Compressed():
            return _compressed(mixer, pair)
        case _:
            return ()


def _gqa(build: Build, mixer: Gqa, pair: CachePair) -> tuple[Grown, ...]:
    if mixer.kv_from_layer is not None:
        return ()
    size = row_bytes(pair.keys, mixer.kv_heads * mixer.head_dim)
    size += row_bytes(pair.values, mixer.kv_heads * mixer.v_head_dim)
    window = (mixer.window or mixer.chunk) if build.trims_windows else None
    index = (Grown(row_bytes(pair.keys, mixer.indexer.dim)),) if mixer.indexer else ()
    return (Grown(size, window), *index)


def _mla(build: Build, mixer: Mla, pair: CachePair) -> tuple[Grown, ...]:
    if not build.keeps_latent:
        keys = row_bytes(pair.keys, mixer.heads * (mixer.nope_dim + mixer.rope_dim))
        return (Grown(keys + row_bytes(pair.values, mixer.heads * mixer.v_dim)),)
    size = row_bytes(pair.keys, mixer.kv_lora_rank + mixer.rope_dim)
    if build.keeps_transposed:
        size += row_bytes(pair.values, mixer.kv_lora_rank)
    return (Grown(size + (row_bytes(pair.keys, mixer.indexer.dim) if mixer.indexer else 0)),)


def _compressed(mixer: Compressed, pair: CachePair) -> tuple[Grown, ...]:
    """DeepSeek V4: keys serve as values; a window of raw ones, compressed ones and those of the selector."""
    raw = Grown(row_bytes(pair.keys, mixer.head_dim), mixer.window)
    if not mixer.ratio or not mixer.owns_kv:
        return (raw,)
    width = mixer.head_dim + (mixer.indexer.dim if mixer.indexer else 0)
    return (raw, Grown(row_bytes(pair.keys, width), ratio=mixer.ratio))


def _state_bytes(mixer: Mixer) -> int:
    """Convolution and recurrent state of one sequence, both in 32 bit."""
    return sum(spec.entry_bytes for spec in caches_of(mixer, STATES) if spec.kind == "state")
