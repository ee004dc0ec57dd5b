"""Kinds of layers in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.plan.kinds import attention_words, feed_forward_words, mixer_words


@pytest.mark.parametrize(
    ("mixer", "words"),
    [
        (Gqa(32, 8, 128, 128), "full attention, 32 heads over 8 KV heads of 128"),
        (Gqa(64, 4, 192, 128), "full attention, 64 heads over 4 KV heads of 192 + 128"),
        (Gqa(16, 8, 256, 256, window=1024), "window of 1,024 tokens, 16 heads over 8 KV heads of 256"),
        (Gqa(40, 8, 128, 128, chunk=8192), "chunks of 8,192 tokens, 40 heads over 8 KV heads of 128"),
        (Gqa(8, 2, 256, 256, kv_from_layer=3), "full attention on another layer's cache, 8 heads"),
        (
            Gqa(64, 4, 128, 128, indexer=Indexer(4, 128, 16)),
            "full attention, 64 heads over 4 KV heads of 128, 16 blocks chosen",
        ),
        (Mla(128, 1536, 512, 128, 64, 128), "latent attention (MLA), 512 + 64 values cached"),
        (
            Mla(128, 1536, 512, 128, 64, 128, Indexer(64, 128, 2048)),
            "latent attention (MLA), 512 + 64 values cached, 2,048 tokens chosen",
        ),
        (Compressed(64, 512, 64, 1024, 1024, 8, 0, 128), "window of 128 tokens"),
        (
            Compressed(64, 512, 64, 1024, 1024, 8, 4, 128),
            "compressed attention, 4 tokens an entry, window of 128 tokens",
        ),
        (
            Compressed(64, 512, 64, 1024, 1024, 8, 1, 128, owns_kv=False),
            "compressed attention, an entry a token of another layer, window of 128 tokens",
        ),
        (DeltaNet(16, 32, 128, 128, 4), "linear attention (gated DeltaNet), state of 32 x 128 x 128"),
        (Kda(96, 128, 4), "linear attention (Kimi delta), state of 96 x 128 x 128"),
        (Mamba1(8192, 16, 4, 256), "state space (Mamba), state of 8,192 x 16"),
        (Mamba2(128, 64, 8, 128, 4), "state space (Mamba 2), state of 128 x 64 x 128"),
    ],
)
def test_mixers(mixer: Any, words: str) -> None:
    assert mixer_words(mixer) == words


def test_counts(make_arch: Callable[..., Arch]) -> None:
    full, window = Gqa(8, 4, 16, 16), Gqa(8, 4, 16, 16, window=64)
    layers = [Layer((mixer,), (Dense(128),)) for mixer in (window, window, full, window)]
    assert attention_words(make_arch(*layers)) == [
        "3 x window of 64 tokens, 8 heads over 4 KV heads of 16",
        "1 x full attention, 8 heads over 4 KV heads of 16",
    ]


def test_feed_forward_parts(make_arch: Callable[..., Arch]) -> None:
    parts = (Dense(18432), Moe(256, 2048, 8, shared_width=2048), Moe(8, 14336, 2))
    arch = make_arch(*[Layer((), (part,)) for part in parts])
    assert feed_forward_words(arch) == [
        "1 x dense, width 18,432",
        "1 x 256 experts of width 2,048, 8 active, shared width 2,048",
        "1 x 8 experts of width 14,336, 2 active",
    ]
