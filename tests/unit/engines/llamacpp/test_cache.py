from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tonnage.engines.llamacpp.build import NEWEST, Build
from tonnage.engines.llamacpp.cache import DeviceCache, device_cache
from tonnage.engines.llamacpp.cache_types import CachePair
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.value import replace

if TYPE_CHECKING:
    from tonnage.model.arch import Mixer

MIB = 2**20
NEW, HALF, EIGHT = Build(NEWEST), CachePair("f16", "f16"), CachePair("q8_0", "q8_0")


def cache(*mixers: Mixer, build: Build = NEW, pair: CachePair = HALF) -> DeviceCache:
    return device_cache(build, mixers, pair, 4, 512)


def test_grouped_attention(gqa: Gqa) -> None:
    # 2 heads x (64 + 64) values in two layers.
    assert cache(gqa, gqa).bytes(1000) == 2 * 512 * 1024
    assert cache(gqa, gqa, pair=EIGHT).bytes(1024) == 2 * 2 * 4 * 34 * 1024
    assert cache(gqa, gqa, pair=CachePair("q8_0", "f16")).token_bytes == 2 * (4 * 34 + 256)


def test_latent_attention_of_deepseek(mla: Mla) -> None:
    # 61 layers at 32,768 tokens: 2,196 MiB in f16 and 1,166.6 in q8_0, as logged.
    assert cache(*[mla] * 61).bytes(32_768) == 2196 * MIB
    assert round(cache(*[mla] * 61, pair=EIGHT).bytes(32_768) / MIB, 1) == 1166.6


def test_latent_attention_expanded(mla: Mla) -> None:
    # 128 heads x (192 + 128) x 2 B x 61 layers x 512 tokens: 2,440 MiB, as logged with mode 0.
    expanded = cache(*[mla] * 61, build=Build(NEWEST, True, 0))
    assert expanded.bytes(512) == 2440 * MIB
    assert cache(*[mla] * 61, build=Build(5000)).bytes(512) == 2440 * MIB
    # Keys in q8_0, values in f16 at 8,192 tokens: 28,060 MiB.
    mixed = cache(*[mla] * 61, build=Build(NEWEST, True, 0), pair=CachePair("q8_0", "f16"))
    assert mixed.bytes(8192) == 28_060 * MIB


def test_mode_1_keeps_the_values_once_more(mla: Mla) -> None:
    # (576 + 512) x 2 B x 61 x 16,384 tokens: 2,074 MiB.
    assert cache(*[mla] * 61, build=Build(NEWEST, True, 1)).bytes(16_384) == 2074 * MIB


def test_selectors_have_keys_of_their_own(gqa: Gqa, mla: Mla) -> None:
    index = Indexer(4, 128, 2048)
    assert cache(replace(mla, indexer=index)).token_bytes == 1152 + 256
    assert cache(replace(gqa, indexer=index)).token_bytes == 512 + 256


def test_windows(gqa: Gqa) -> None:
    window = replace(gqa, window=1024)
    # 4 slots x 1,024 tokens and a batch of 512: 4,608 cells.
    assert cache(window).bytes(32_768) == 512 * 4608
    assert cache(window).bytes(2048) == 512 * 2048
    assert cache(window, build=Build(5400)).bytes(32_768) == 512 * 32_768
    assert cache(window, build=Build(NEWEST, True)).bytes(32_768) == 512 * 32_768
    assert cache(replace(gqa, chunk=1024)).bytes(32_768) == 512 * 4608
    assert cache(gqa, window).token_bytes == 512


def test_layers_that_read_another_cache(gqa: Gqa) -> None:
    assert cache(gqa, replace(gqa, kv_from_layer=0)).bytes(256) == 512 * 256


def test_compressed_attention() -> None:
    mixer = Compressed(8, 512, 64, 64, 64, 2, 4, 128, indexer=Indexer(64, 128, 512))
    # Raw: 128 x 4 + 512 = 1,024 cells of 1,024 B; entries: a quarter of the tokens, 1,024 + 256 B.
    assert cache(mixer).bytes(8192) == 1024 * 1024 + 2048 * 1280
    assert cache(replace(mixer, owns_kv=False)).bytes(8192) == 1024 * 1024


@pytest.mark.parametrize(
    ("mixer", "values"),
    [
        # (2 x 256 + 256) x 3 of convolution, 4 x 64 x 64 of state.
        (DeltaNet(4, 4, 64, 64, 4), 768 * 3 + 16_384),
        # 3 x 256 x 3 and 4 x 64 x 64.
        (Kda(4, 64, 4), 2304 + 16_384),
        # 256 x (3 + 16).
        (Mamba1(256, 16, 4, 8), 256 * 19),
        # (256 + 2 x 16) x 3 and 256 x 16.
        (Mamba2(4, 64, 1, 16, 4), 864 + 4096),
    ],
)
def test_states_in_32_bit_for_every_slot(mixer: Mixer, values: int) -> None:
    found = cache(mixer)
    assert found.state_bytes == values * 4
    assert found.bytes(4096) == 4 * values * 4
    assert found.token_bytes == 0
