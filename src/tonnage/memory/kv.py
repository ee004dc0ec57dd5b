"""From the mixers of one rank to what it caches."""

from __future__ import annotations

from tonnage.memory.kv_spec import KvSpec
from tonnage.memory.kv_types import head_bytes, vector_bytes
from tonnage.memory.rank_view import count_equal
from tonnage.model.dtypes import FLOAT32_BYTES
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from tonnage.memory.kv_types import CacheTypes
    from tonnage.model.arch import Mixer
    from tonnage.model.mixer.indexer import Indexer

FLOAT32 = "float32"
INDEX_SCALE_VALUES = 128  # selector keys in fp8 carry one fp32 scale per 128 values (vLLM `models/deepseek_v2.py`)
MXFP4_SCALE_VALUES = 32
QKV = 3  # Kimi Delta Attention convolves queries, keys and values of equal width
# Compressor states of DeepSeek V4 (vLLM `models/deepseek_v4/compressor.py`): block sizes chosen so that pages match.
OVERLAPPED_RATIO, OVERLAPPED_BLOCK, PLAIN_BLOCK = 4, 4, 8
RING_BLOCK = 8  # smallest ring of DeepSeek V4.1's compressor


@value
class Share:
    """How one rank keeps the caches: attention is cut over `tp` ranks, `num_spec` tokens are drafted ahead."""

    tp: int
    types: CacheTypes
    num_spec: int = 0


def kv_specs(mixers: Sequence[Mixer], share: Share) -> tuple[KvSpec, ...]:
    """The caches of a rank that holds `mixers`, in order of first appearance; equal layers are counted together."""
    counted: dict[KvSpec, int] = {}
    for mixer, layers in count_equal(mixers).items():
        for spec in caches_of(mixer, share):
            counted[spec] = counted.get(spec, 0) + layers
    return tuple(replace(spec, layers=layers) for spec, layers in counted.items())


def caches_of(mixer: Mixer, share: Share) -> Iterator[KvSpec]:
    """The caches of a single layer, in the order in which an engine registers them."""
    return _CACHES[type(mixer)](mixer, share)


def _gqa(mixer: Gqa, share: Share) -> Iterator[KvSpec]:
    # A layer that reads another layer's cache owns none.
    if mixer.kv_from_layer is not None:
        return
    # Fewer KV heads than ranks: each rank keeps a copy of one head.
    heads = max(1, mixer.kv_heads // share.tp)
    size = heads * head_bytes(share.types.attention, mixer.head_dim, mixer.v_head_dim)
    if mixer.window is not None:
        yield KvSpec("sliding", 1, size, window=mixer.window)
    elif mixer.chunk is not None:
        yield KvSpec("chunked", 1, size, window=mixer.chunk)
    else:
        yield KvSpec("full", 1, size)
    if mixer.indexer is not None:
        yield KvSpec("mla", 1, vector_bytes(share.types.model, mixer.indexer.dim), is_index=True)


def _mla(mixer: Mla, share: Share) -> Iterator[KvSpec]:
    # The latent vector serves all heads, so every rank keeps the whole of it.
    if mixer.indexer is not None:
        yield KvSpec("mla", 1, index_bytes(mixer.indexer, share.types), is_index=True)
    packed = share.types.latent_entry_bytes if mixer.is_sparse or mixer.indexer else None
    width = mixer.kv_lora_rank + mixer.rope_dim
    yield KvSpec("mla", 1, packed or vector_bytes(share.types.attention, width))


def _compressed(mixer: Compressed, share: Share) -> Iterator[KvSpec]:
    record = share.types.record
    size, alignment = record.entry_bytes, record.alignment
    yield KvSpec("sliding_mla", 1, size, 1, alignment, mixer.window, record.window_block)
    if mixer.ratio == 0 or not mixer.owns_kv:
        return
    if mixer.indexer is not None:
        keys = index_bytes(mixer.indexer, share.types)
        yield KvSpec("mla", 1, keys, mixer.ratio, alignment, is_index=True)
        yield from _compressor(mixer.ratio, mixer.indexer.dim, share, is_index=True)
    yield KvSpec("mla", 1, size, mixer.ratio, alignment)
    yield from _compressor(mixer.ratio, mixer.head_dim, share)


def _compressor(ratio: int, width: int, share: Share, is_index: bool = False) -> Iterator[KvSpec]:
    """The open group of tokens a compressor still gathers: values and scores in 32 bits."""
    row = 2 * width * FLOAT32_BYTES
    if ratio >= OVERLAPPED_RATIO:
        overlap = 2 if ratio == OVERLAPPED_RATIO else 1
        block = OVERLAPPED_BLOCK if ratio == OVERLAPPED_RATIO else PLAIN_BLOCK
        alignment = share.types.record.alignment
        yield KvSpec("sliding_mla", 1, overlap * row, 1, alignment, overlap * ratio, block, is_index)
    elif ratio > 1 and not is_index:
        # One latent feeds keys and selector alike, hence a single ring; it must hold a step's drafts.
        yield KvSpec("ring", 1, row, block=max(RING_BLOCK, 1 << (share.num_spec + 1).bit_length()))


def _deltanet(mixer: DeltaNet, share: Share) -> Iterator[KvSpec]:
    channels = 2 * mixer.key_heads * mixer.key_dim + mixer.value_heads * mixer.value_dim
    conv = channels // share.tp * (mixer.kernel - 1 + share.num_spec)
    matrix = mixer.value_heads // share.tp * mixer.value_dim * mixer.key_dim
    yield _state(share, conv, matrix, mixer.state_dtype)


def _kda(mixer: Kda, share: Share) -> Iterator[KvSpec]:
    conv = QKV * mixer.heads * mixer.head_dim // share.tp * (mixer.kernel - 1 + share.num_spec)
    matrix = mixer.heads // share.tp * mixer.head_dim * mixer.head_dim
    yield replace(_state(share, conv, matrix, FLOAT32), scan="kda")


def _mamba1(mixer: Mamba1, share: Share) -> Iterator[KvSpec]:
    inner = mixer.inner // share.tp
    yield _state(share, inner * (mixer.kernel - 1), inner * mixer.state, None)


def _mamba2(mixer: Mamba2, share: Share) -> Iterator[KvSpec]:
    # Groups that do not divide are copied until each rank has one (vLLM `mamba/mamba_utils.py`).
    groups = mixer.groups if mixer.groups % share.tp == 0 else share.tp
    channels = mixer.heads * mixer.head_dim + 2 * groups * mixer.state
    conv = channels // share.tp * (mixer.kernel - 1 + share.num_spec)
    matrix = mixer.heads // share.tp * mixer.head_dim * mixer.state
    yield replace(_state(share, conv, matrix, mixer.state_dtype), scan="mamba2")


def _state(share: Share, conv: int, recurrent: int, dtype: str | None) -> KvSpec:
    """A convolution state in the model's type and a recurrent state in its own."""
    types = share.types
    size = vector_bytes(types.model, conv) + vector_bytes(types.state or dtype or types.model, recurrent)
    return KvSpec("state", 1, size)


def index_bytes(indexer: Indexer, types: CacheTypes) -> int:
    """A token's part of a selector key with its scales: 132 B for 128 values in fp8, 68 B in mxfp4."""
    if types.index == "mxfp4":
        return (indexer.dim // 2 + indexer.dim // MXFP4_SCALE_VALUES) // indexer.pool
    return (indexer.dim + indexer.dim // INDEX_SCALE_VALUES * FLOAT32_BYTES) // indexer.pool


_CACHES: dict[type, Callable[[Any, Share], Iterator[KvSpec]]] = {
    Gqa: _gqa, Mla: _mla, Compressed: _compressed, DeltaNet: _deltanet, Kda: _kda, Mamba1: _mamba1, Mamba2: _mamba2,
}  # fmt: skip
