"""Caches of mixers against the sizes published models have in the engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonnage.memory.kv import Share, kv_specs
from tonnage.memory.kv_spec import KvSpec, page_bytes
from tonnage.memory.kv_types import V41_RECORD, CacheTypes
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla

HALF = CacheTypes("bfloat16", "bfloat16")
FP8 = CacheTypes("fp8", "bfloat16")
LLAMA = Gqa(32, 8, 128, 128)
DEEPSEEK = Mla(128, 1536, 512, 128, 64, 128)
SPARSE = Mla(128, 1536, 512, 128, 64, 128, Indexer(64, 128, 2048), is_sparse=True)


def test_heads_are_divided_and_then_copied() -> None:
    # 8 heads over 4 ranks: 2 x (128 + 128) x 2 B
    assert kv_specs([LLAMA] * 32, Share(4, HALF)) == (KvSpec("full", 32, 1024),)
    # over 16 ranks every rank keeps one whole head
    assert kv_specs([LLAMA], Share(16, HALF)) == (KvSpec("full", 1, 512),)
    assert kv_specs([LLAMA], Share(1, FP8)) == (KvSpec("full", 1, 2048),)


def test_windows_chunks_and_widths() -> None:
    mixed = [Gqa(64, 4, 192, 128), Gqa(64, 8, 192, 128, window=128), Gqa(40, 8, 128, 128, chunk=8192)]
    assert kv_specs(mixed, Share(1, HALF)) == (
        KvSpec("full", 1, 4 * 320 * 2),
        KvSpec("sliding", 1, 8 * 320 * 2, window=128),
        KvSpec("chunked", 1, 8 * 256 * 2, window=8192),
    )


def test_layers_that_read_another_layers_cache_own_none() -> None:
    assert kv_specs([LLAMA, Gqa(32, 8, 128, 128, kv_from_layer=0)], Share(1, HALF)) == (KvSpec("full", 1, 4096),)


def test_shared_keys_are_still_cached_twice() -> None:
    assert kv_specs([Gqa(32, 4, 512, 512, shared_k=True)], Share(1, HALF))[0].entry_bytes == 4 * 1024 * 2


def test_block_selector_keeps_plain_keys() -> None:
    sparse = Gqa(64, 4, 128, 128, indexer=Indexer(4, 128, 16))
    assert kv_specs([sparse] * 2, Share(4, HALF)) == (
        KvSpec("full", 2, 512),
        KvSpec("mla", 2, 256, is_index=True),
    )


@pytest.mark.parametrize("tp", [1, 8, 16])
def test_latent_vectors_are_copied_to_every_rank(tp: int) -> None:
    # (512 + 64) x 2 B
    assert kv_specs([DEEPSEEK] * 61, Share(tp, HALF)) == (KvSpec("mla", 61, 1152),)


def test_sparse_latent_attention_has_selector_keys() -> None:
    # 128 fp8 values and one fp32 scale
    assert kv_specs([SPARSE], Share(8, HALF)) == (KvSpec("mla", 1, 132, is_index=True), KvSpec("mla", 1, 1152))
    # four tokens share one key of 132 B
    pooled = Mla(128, 1536, 512, 128, 64, 128, Indexer(64, 128, 2048, pool=4), is_sparse=True)
    assert kv_specs([pooled], Share(8, HALF))[0] == KvSpec("mla", 1, 33, is_index=True)
    packed = CacheTypes("fp8", "bfloat16", latent_entry_bytes=656, index="mxfp4")
    # 64 B of fp4 and 4 block scales
    assert kv_specs([SPARSE], Share(8, packed)) == (KvSpec("mla", 1, 68, is_index=True), KvSpec("mla", 1, 656))


def test_layers_that_reuse_a_selection_are_packed_too_but_keep_no_keys() -> None:
    follower = Mla(64, 2048, 512, 192, 64, 256, is_sparse=True)
    packed = CacheTypes("fp8", "bfloat16", latent_entry_bytes=656)
    assert kv_specs([follower], Share(1, packed)) == (KvSpec("mla", 1, 656),)
    # dense latent attention stays plain
    assert kv_specs([DEEPSEEK], Share(1, packed)) == (KvSpec("mla", 1, 576),)


def compressed(ratio: int, owns_kv: bool = True) -> Compressed:
    """A layer of DeepSeek V4's shape."""
    indexer = Indexer(64, 128, 1024) if ratio in (1, 2, 4) else None
    return Compressed(128, 512, 64, 1536, 1024, 16, ratio, 128, indexer, owns_kv)


def test_compressed_attention_in_the_order_of_registration() -> None:
    # the pages are those vLLM 0.32 gives for DeepSeek-V4-Pro: 31 layers of ratio 128, 30 of ratio 4
    specs = kv_specs([compressed(128)] * 31 + [compressed(4)] * 30, Share(8, FP8))
    assert [(s.kind, s.block, page_bytes(s, 256), s.layers) for s in specs] == [
        ("sliding_mla", 64, 37_440, 61),
        ("mla", None, 1_728, 31),
        ("sliding_mla", 8, 32_832, 31),
        ("mla", None, 8_640, 30),
        ("sliding_mla", 4, 8_640, 30),
        ("mla", None, 37_440, 30),
        ("sliding_mla", 4, 32_832, 30),
    ]
    assert [s.window for s in specs] == [128, None, 128, None, 8, None, 8]


def test_window_only_layers_and_layers_without_a_cache_of_their_own() -> None:
    types = CacheTypes("fp8", "bfloat16", record=V41_RECORD)
    window = KvSpec("sliding_mla", 1, 528, 1, 512, 128, 32)
    assert kv_specs([compressed(0)], Share(1, types)) == (window,)
    assert kv_specs([compressed(2, owns_kv=False)], Share(1, types)) == (window,)
    assert kv_specs([compressed(2)], Share(1, types)) == (
        window,
        KvSpec("mla", 1, 132, 2, 512, is_index=True),
        KvSpec("mla", 1, 528, 2, 512),
        # values and scores: 2 x 512 x 4 B per row, 8 rows
        KvSpec("ring", 1, 4096, block=8),
    )
    assert [s.kind for s in kv_specs([compressed(1)], Share(1, types))] == ["sliding_mla", "mla", "mla"]


@pytest.mark.parametrize(("num_spec", "rows"), [(0, 8), (5, 8), (7, 16), (14, 16)])
def test_ring_holds_a_step_of_drafts(num_spec: int, rows: int) -> None:
    ring = kv_specs([compressed(2)], Share(1, CacheTypes("fp8", "bfloat16"), num_spec))[-1]
    assert ring.block == rows


def test_delta_net_state() -> None:
    qwen = DeltaNet(16, 32, 128, 128, 4, "float32")
    # (2 x 16 x 128 + 32 x 128) x 3 x 2 B = 49,152; 32 x 128 x 128 x 4 B = 2,097,152
    assert kv_specs([qwen] * 36, Share(1, HALF)) == (KvSpec("state", 36, 2_146_304),)
    assert kv_specs([qwen], Share(16, HALF))[0].entry_bytes == 134_144
    # two drafted tokens widen the convolution to 5 steps: 8,192 x 5 x 2 B
    assert kv_specs([qwen], Share(1, HALF, num_spec=2))[0].entry_bytes == 81_920 + 2_097_152
    # without a type of its own the state is in the model's
    assert kv_specs([DeltaNet(16, 32, 128, 128, 4)], Share(1, HALF))[0].entry_bytes == 49_152 + 1_048_576


def test_kimi_delta_state() -> None:
    # 3 x 96 x 128 x 3 x 2 B = 221,184; 96 x 128 x 128 x 4 B = 6,291,456
    assert kv_specs([Kda(96, 128, 4)], Share(1, HALF)) == (KvSpec("state", 1, 6_512_640, scan="kda"),)


def test_mamba_states() -> None:
    # Jamba: 8,192 x 3 x 2 B = 49,152; 8,192 x 16 x 2 B = 262,144
    assert kv_specs([Mamba1(8192, 16, 4, 256)], Share(1, HALF)) == (KvSpec("state", 1, 311_296),)
    forced = CacheTypes("bfloat16", "bfloat16", state="float32")
    assert kv_specs([Mamba1(8192, 16, 4, 256)], Share(1, forced))[0].entry_bytes == 573_440
    # Nemotron-H 56B: (16,384 + 2 x 8 x 256) x 3 x 2 B = 122,880; 256 x 64 x 256 x 4 B = 16,777,216
    nemotron = Mamba2(256, 64, 8, 256, 4, state_dtype="float32")
    assert kv_specs([nemotron], Share(1, HALF)) == (KvSpec("state", 1, 16_900_096, scan="mamba2"),)


def test_groups_that_do_not_divide_are_copied() -> None:
    # 2 groups over 4 ranks become 4: (64 x 64 + 2 x 4 x 128)/4 x 3 x 2 B = 7,680; 16 x 64 x 128 x 2 B
    odd = Mamba2(64, 64, 2, 128, 4)
    assert kv_specs([odd], Share(4, HALF))[0].entry_bytes == 7_680 + 262_144


def test_unknown_mixers_are_refused() -> None:
    with pytest.raises(KeyError, match="str"):
        kv_specs(["attention"], Share(1, HALF))  # type: ignore[list-item]


@given(st.sampled_from([1, 2, 4, 8, 16, 32]), st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_more_ranks_never_cache_more_per_rank(one: int, other: int) -> None:
    few, many = sorted((one, other))
    mixers = [LLAMA, SPARSE, DeltaNet(32, 32, 128, 128, 4), Kda(32, 128, 4), Mamba1(8192, 16, 4, 256)]
    sizes = [[spec.entry_bytes for spec in kv_specs(mixers, Share(tp, HALF))] for tp in (few, many)]
    assert all(more <= less and more > 0 for less, more in zip(*sizes, strict=True))


KINDS = {
    "FullAttentionSpec": "full", "SlidingWindowSpec": "sliding", "ChunkedLocalAttentionSpec": "chunked",
    "MLAAttentionSpec": "mla", "MambaSpec": "state", "SlidingWindowMLASpec": "sliding_mla",
}  # fmt: skip


def test_pages_equal_the_engines_own(shared: Path) -> None:
    """Every layer of every single-stage row that the engine itself planned (vLLM 0.32 on its CPU platform)."""
    from tonnage.engines.vllm.kv_types import cache_types
    from tonnage.engines.vllm.version import Version
    from tonnage.model.config.arch import read_arch
    from tonnage.model.quantization.read import read_scheme

    checked = 0
    # Its quantization block names no method, so the engine does not look for a cache type there.
    unnamed = {"Qwen__Qwen3-32B-FP8-Static-PerTensor"}
    archs = {}
    for line in (shared / "evidence" / "oracle_vllm.jsonl").read_text().splitlines():
        row = json.loads(line)
        name = row["model"]
        if row["pp"] != 1 or name in unnamed:
            continue
        if name not in archs:
            config = json.loads((shared / "models" / f"{name}.json").read_text())
            beside = shared / "models" / f"{name}.hf_quant_config.json"
            scheme = read_scheme(config, json.loads(beside.read_text()) if beside.exists() else None)
            archs[name] = read_arch(config, scheme)
        arch, block = archs[name], 256 if "V4" in name else 128
        types = cache_types(row["kv_cache_dtype"], arch, Version(0, 32), "cpu")
        specs = kv_specs([mixer for layer in arch.layers for mixer in layer.mixers], Share(row["tp"], types))
        got = [(spec.kind, page_bytes(spec, block), spec.layers) for spec in specs]
        assert got == [(KINDS[k["kind"]], k["page_bytes"], k["layers"]) for k in row["kv_layers"]], name
        checked += 1
    assert checked >= 250
