"""Cache types the engine settles on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tonnage.engines.vllm.kv_types import cache_types, compute_dtype
from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_types import V4_RECORD, V41_RECORD
from tonnage.model.arch import Arch, Layer
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla
from tonnage.model.quantization.scheme import Scheme

NEW = Version(0, 32)
PLAIN = Layer((Gqa(32, 8, 128, 128),), ())
SPARSE = Layer((Mla(128, 1536, 512, 128, 64, 128, Indexer(64, 128, 2048), is_sparse=True),), ())


def arch(layer: Layer, dtype: str = "bfloat16", method: str | None = None) -> Arch:
    """A model of one layer, with an fp8 cache asked for by a checkpoint of `method`."""
    scheme = Scheme(method, (), "fp8") if method else None
    return Arch(
        "m", ("M",), 4096, 128_256, False, 8192, dtype, (layer,), scheme=scheme, kv_dtype="fp8" if method else None
    )


def compressed(ratio: int) -> Layer:
    """A layer of compressed attention."""
    return Layer((Compressed(64, 512, 64, 1024, 1024, 8, ratio, 128),), ())


def test_auto_is_the_models_type() -> None:
    types = cache_types("auto", arch(PLAIN), NEW)
    assert (types.attention, types.model, types.latent_entry_bytes, types.state) == ("bfloat16", "bfloat16", None, None)
    assert cache_types("fp8", arch(PLAIN), NEW).attention == "fp8"


@pytest.mark.parametrize(
    ("method", "version", "expected"),
    [
        ("modelopt", (0, 11), "bfloat16"),
        ("modelopt", (0, 12), "fp8"),
        ("compressed-tensors", (0, 14), "bfloat16"),
        ("compressed-tensors", (0, 15), "fp8"),
        ("quark", (0, 32), "bfloat16"),
    ],
)
def test_auto_follows_some_checkpoints(method: str, version: tuple[int, int], expected: str) -> None:
    assert cache_types("auto", arch(PLAIN, method=method), Version(*version)).attention == expected


def test_an_explicit_type_wins_over_the_checkpoint() -> None:
    assert cache_types("bfloat16", arch(PLAIN, method="modelopt"), NEW).attention == "bfloat16"


@pytest.mark.parametrize(
    ("asked", "platform", "target", "expected"),
    [
        ("fp8", "cuda", "sm_90", 656),
        ("fp8", "cuda", "sm_100", None),
        ("fp8", "rocm", "gfx950", None),
        ("fp8_e4m3", "cuda", "sm_120", 656),
        ("auto", "cuda", "sm_120", 656),
        ("auto", "cuda", "sm_90", None),
        ("fp8_ds_mla", "cuda", "sm_100", 656),
        ("nvfp4_ds_mla", "cuda", "sm_100", 352),
    ],
)
def test_packed_rows_of_sparse_attention(asked: str, platform: str, target: str, expected: int | None) -> None:
    types = cache_types(asked, arch(SPARSE), NEW, platform, target)  # type: ignore[arg-type]
    assert types.latent_entry_bytes == expected


def test_packed_names_are_fp8_elsewhere() -> None:
    assert cache_types("fp8_ds_mla", arch(SPARSE), NEW).attention == "fp8"


def test_records_of_compressed_attention() -> None:
    assert cache_types("auto", arch(compressed(4)), NEW).record == V4_RECORD
    assert cache_types("auto", arch(compressed(2)), NEW).record == V41_RECORD
    assert cache_types("auto", arch(compressed(0)), NEW).record == V4_RECORD


def test_states_on_a_cpu() -> None:
    assert cache_types("auto", arch(PLAIN), NEW, "cpu").state == "float32"


def test_checkpoints_in_32_bits_run_in_16() -> None:
    assert compute_dtype("float32") == compute_dtype("torch.float32") == "bfloat16"
    assert compute_dtype("float16") == "float16"
    types = cache_types("auto", replace(arch(PLAIN), dtype="float32"), NEW)
    assert (types.attention, types.model) == ("bfloat16", "bfloat16")


def test_latents_without_rotary_values_are_not_packed() -> None:
    # GLM 5.3 Flash: 512 fp8 values a token on Hopper too.
    plain = replace(SPARSE, mixers=(replace(SPARSE.mixers[0], rope_dim=0),))
    assert cache_types("fp8", arch(plain), NEW, "cuda", "sm_90").latent_entry_bytes is None
