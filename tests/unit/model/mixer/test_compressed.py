"""Tensors of compressed attention."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.errors import LayoutError
from tonnage.layout.shard import cut
from tonnage.model.mixer.compressed import Compressed, compressed_tensors
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.tensor import Tensor

FLASH = Compressed(
    heads=64, head_dim=512, rope_dim=64, q_lora_rank=1024, o_lora_rank=1024, o_groups=8, ratio=0, window=128
)
INDEXER = Indexer(64, 128, 512)
# wq_a + wkv + norms + wq_b + wo_a + wo_b + sinks
# = 4,194,304 + 2,097,152 + 1,536 + 33,554,432 + 33,554,432 + 33,554,432 + 64
WINDOW_ONLY = 106_956_352


def size(mixer: Compressed, hidden: int = 4096) -> int:
    return sum(tensor.params for tensor in compressed_tensors(mixer, hidden))


def by_name(mixer: Compressed, hidden: int = 4096) -> dict[str, Tensor]:
    return {tensor.name.removeprefix("self_attn."): tensor for tensor in compressed_tensors(mixer, hidden)}


def test_window_only() -> None:
    assert size(FLASH) == WINDOW_ONLY


def test_heavy_compression() -> None:
    # 2 x 4096 x 512 + 128 positions x 512 + norm 512
    assert size(replace(FLASH, ratio=128)) == WINDOW_ONLY + 4_194_304 + 65_536 + 512


def test_overlapping_compression_with_its_selector() -> None:
    # compressor 4 x 4096 x 512 + 8 x 512 + 512; selector 8192 x 1024 + 64 x 4096 and a compressor of width 128
    compressor, selector = 8_388_608 + 4096 + 512, 8_388_608 + 262_144 + 2_097_152 + 1024 + 128
    assert size(replace(FLASH, ratio=4, indexer=INDEXER)) == WINDOW_ONLY + compressor + selector


def test_shared_latent_has_neither_positions_nor_a_second_compressor() -> None:
    shared = replace(FLASH, ratio=2, indexer=INDEXER, shares_latent=True)
    names = by_name(shared)
    assert names["indexer.wk"].params == 128 * 512
    assert not [name for name in names if name.endswith("ape") or name.startswith("indexer.compressor")]
    # entries: two matrices 512 x 4096 and a norm; selector: queries, head weights, keys from entries and their norm
    assert size(shared) == WINDOW_ONLY + 4_194_304 + 512 + 8_388_608 + 262_144 + 65_536 + 128


def test_single_tokens_need_no_gate() -> None:
    single = replace(FLASH, ratio=1, shares_latent=True)
    assert "compressor.wgate" not in by_name(single)
    assert size(single) == WINDOW_ONLY + 512 * 4096 + 512


def test_layers_without_entries_have_no_index_keys() -> None:
    reader = replace(FLASH, ratio=1, indexer=INDEXER, owns_kv=False, shares_latent=True)
    assert size(reader) == WINDOW_ONLY + 8_388_608 + 262_144
    assert size(replace(reader, indexer=None)) == WINDOW_ONLY


def test_shards_over_eight_ranks() -> None:
    shards = {name: cut(tensor, 8) for name, tensor in by_name(replace(FLASH, ratio=4, indexer=INDEXER)).items()}
    # vLLM 0.32: fused_wqa_wkv 1536 x 4096 whole, wq_b 4096 x 1024, wo_a 1024 x 4096, wo_b 4096 x 1024, sinks 8.
    assert shards["wq_a"].rows + shards["wkv"].rows == 1536
    assert (shards["wq_b"].rows, shards["wo_a"].rows, shards["wo_b"].cols, shards["attn_sink"].rows) == (
        4096,
        1024,
        1024,
        8,
    )
    assert shards["compressor.wkv"].rows + shards["compressor.wgate"].rows == 2048
    assert shards["indexer.compressor.wkv"].rows + shards["indexer.compressor.wgate"].rows == 512
    assert shards["indexer.wq_b"].rows == 8192


def test_types_of_the_compressor() -> None:
    tensors = by_name(replace(FLASH, ratio=4, indexer=INDEXER))
    wide = {name for name, tensor in tensors.items() if tensor.dtype == "float32"}
    assert wide == {"attn_sink", "compressor.ape", "indexer.compressor.ape"}
    assert {tensors[name].kind for name in ("compressor.wkv", "compressor.wgate", "indexer.weights_proj")} == {"plain"}


def test_ranks_must_divide_the_output_groups() -> None:
    with pytest.raises(LayoutError, match="8 pieces over 16 ranks"):
        cut(by_name(FLASH)["wo_a"], 16)
