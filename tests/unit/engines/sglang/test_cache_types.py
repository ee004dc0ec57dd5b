from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.cache_types import cache_dtype, is_sparse, pool_types
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.memory.kv_types import V4_RECORD, V41_RECORD
from tonnage.model.arch import Arch
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.quantization.scheme import Scheme
from tonnage.value import replace

ArchOf = Callable[..., Arch]
V4 = Compressed(8, 512, 64, 64, 64, 2, 4, 128)


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        (None, "bfloat16"),
        ("auto", "bfloat16"),
        ("bfloat16 (default)", "bfloat16"),
        ("bf16", "bfloat16"),
        ("fp8_e4m3", "fp8_e4m3"),
        ("FP8", "fp8_e4m3"),
        ("fp8_e5m2", "fp8_e5m2"),
        ("fp4_e2m1", "nvfp4"),
    ],
)
def test_asked_types(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf, asked: str | None, used: str) -> None:
    assert cache_dtype(asked, arch_of(gqa), NEWEST, hopper) == used


def test_auto_follows_modelopt(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    arch = arch_of(gqa, scheme=Scheme("modelopt", (), "fp8"), kv_dtype="fp8")
    assert cache_dtype("auto", arch, NEWEST, hopper) == "fp8_e4m3"
    assert cache_dtype("auto", arch, Version(0, 5, 3), hopper) == "bfloat16"
    other = replace(arch, scheme=Scheme("quark", (), "fp8"))
    assert cache_dtype("auto", other, NEWEST, hopper) == "bfloat16"


def test_auto_of_sparse_and_compressed_attention(
    hopper: Accelerator, blackwell: Accelerator, instinct: Accelerator, sparse_mla: Mla, arch_of: ArchOf
) -> None:
    arch = arch_of(sparse_mla)
    assert cache_dtype("auto", arch, NEWEST, hopper) == "bfloat16"
    assert cache_dtype("auto", arch, NEWEST, instinct) == "bfloat16"
    assert cache_dtype("auto", arch, NEWEST, blackwell) == "fp8_e4m3"
    assert cache_dtype("bfloat16", arch_of(V4), NEWEST, hopper) == "fp8_e4m3"


def test_rows_of_sparse_attention(
    hopper: Accelerator, blackwell: Accelerator, sparse_mla: Mla, mla: Mla, arch_of: ArchOf
) -> None:
    arch = arch_of(sparse_mla)
    assert pool_types("fp8_e4m3", arch, NEWEST, hopper).planned.latent_entry_bytes == 656
    assert pool_types("bfloat16", arch, NEWEST, hopper).allocated.latent_entry_bytes is None
    assert pool_types("fp8_e4m3", arch, NEWEST, blackwell).allocated.latent_entry_bytes is None
    assert pool_types("fp8_e4m3", arch, Version(0, 5, 8), blackwell).allocated.latent_entry_bytes == 656
    assert pool_types("fp8_e4m3", arch_of(mla), NEWEST, hopper).allocated.latent_entry_bytes is None
    assert is_sparse(arch)
    assert not is_sparse(arch_of(mla))


def test_rocm_once_planned_smaller_rows_than_it_allocated(
    instinct: Accelerator, sparse_mla: Mla, arch_of: ArchOf
) -> None:
    old = pool_types("fp8_e4m3", arch_of(sparse_mla), Version(0, 5, 8), instinct)
    assert (old.planned.latent_entry_bytes, old.allocated.latent_entry_bytes) == (None, 656)
    new = pool_types("fp8_e4m3", arch_of(sparse_mla), NEWEST, instinct)
    assert new.planned == new.allocated


def test_states_are_wide_and_records_follow_the_model(hopper: Accelerator, arch_of: ArchOf) -> None:
    assert pool_types("fp8_e4m3", arch_of(V4), NEWEST, hopper).planned.record == V4_RECORD
    newer = pool_types("fp8_e4m3", arch_of(replace(V4, ratio=2)), NEWEST, hopper).planned
    assert newer.record == V41_RECORD
    assert newer.state == "float32"
