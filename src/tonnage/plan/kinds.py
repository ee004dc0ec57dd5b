"""Kinds of attention and feed-forward parts in words, layer counts first."""

from __future__ import annotations

from collections import Counter

from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tonnage.model.arch import Arch, Ffn, Mixer


def attention_words(arch: Arch) -> list[str]:
    """One text per kind of mixer, first ones first: `24 x latent attention (MLA), 512 + 64 values cached`."""
    counts = Counter(mixer_words(mixer) for layer in arch.layers for mixer in layer.mixers)
    return [f"{count} x {words}" for words, count in counts.items()]


def feed_forward_words(arch: Arch) -> list[str]:
    """One text per kind of feed-forward part: `60 x 256 experts of width 2,048, 8 active, and 1 shared`."""
    counts = Counter(_part_words(part) for layer in arch.layers for part in layer.ffns)
    return [f"{count} x {words}" for words, count in counts.items()]


def mixer_words(mixer: Mixer) -> str:
    """A kind of attention, and what it keeps of a token or a request."""
    return _WORDS[type(mixer)](mixer)


def _part_words(part: Ffn) -> str:
    if not isinstance(part, Moe):
        return f"dense, width {part.width:,}"
    shared = f", shared width {part.shared_width:,}" if part.shared_width else ""
    return f"{part.experts:,} experts of width {part.width:,}, {part.top_k} active{shared}"


def _gqa(mixer: Gqa) -> str:
    reach = "full attention"
    if mixer.window is not None:
        reach = f"window of {mixer.window:,} tokens"
    elif mixer.chunk is not None:
        reach = f"chunks of {mixer.chunk:,} tokens"
    if mixer.kv_from_layer is not None:
        return f"{reach} on another layer's cache, {mixer.heads} heads"
    width = f"{mixer.head_dim}" if mixer.head_dim == mixer.v_head_dim else f"{mixer.head_dim} + {mixer.v_head_dim}"
    chosen = f", {mixer.indexer.topk:,} blocks chosen" if mixer.indexer else ""
    return f"{reach}, {mixer.heads} heads over {mixer.kv_heads} KV heads of {width}{chosen}"


def _mla(mixer: Mla) -> str:
    sparse = f", {mixer.indexer.topk:,} tokens chosen" if mixer.indexer else ""
    return f"latent attention (MLA), {mixer.kv_lora_rank} + {mixer.rope_dim} values cached{sparse}"


def _compressed(mixer: Compressed) -> str:
    window = f"window of {mixer.window:,} tokens"
    if not mixer.ratio:
        return window
    whose = "" if mixer.owns_kv else " of another layer"
    share = "an entry a token" if mixer.ratio == 1 else f"{mixer.ratio} tokens an entry"
    return f"compressed attention, {share}{whose}, {window}"


def _deltanet(mixer: DeltaNet) -> str:
    return f"linear attention (gated DeltaNet), state of {mixer.value_heads} x {mixer.key_dim} x {mixer.value_dim}"


def _kda(mixer: Kda) -> str:
    return f"linear attention (Kimi delta), state of {mixer.heads} x {mixer.head_dim} x {mixer.head_dim}"


def _mamba1(mixer: Mamba1) -> str:
    return f"state space (Mamba), state of {mixer.inner:,} x {mixer.state}"


def _mamba2(mixer: Mamba2) -> str:
    return f"state space (Mamba 2), state of {mixer.heads} x {mixer.head_dim} x {mixer.state}"


_WORDS: dict[type, Callable[[Any], str]] = {
    Gqa: _gqa, Mla: _mla, Compressed: _compressed, DeltaNet: _deltanet, Kda: _kda, Mamba1: _mamba1, Mamba2: _mamba2,
}  # fmt: skip
