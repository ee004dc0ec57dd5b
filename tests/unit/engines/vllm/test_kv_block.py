"""Block sizes the engine chooses."""

from __future__ import annotations

import pytest

from tonnage.engines.vllm.kv_block import align_block, choose_block
from tonnage.engines.vllm.kv_request import KvRequest
from tonnage.engines.vllm.kv_rules import kv_rules
from tonnage.engines.vllm.version import Version
from tonnage.memory.kv_spec import KvSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_request import Platform

FULL = (KvSpec("full", 32, 4096),)
LATENT = (KvSpec("mla", 61, 1152),)
SPARSE = (KvSpec("mla", 61, 132, is_index=True), KvSpec("mla", 61, 1152))
BLOCKWISE = (KvSpec("full", 60, 2048), KvSpec("mla", 57, 256, is_index=True))
COMPRESSED = (KvSpec("sliding_mla", 43, 584, 1, 576, 128, 64), KvSpec("mla", 20, 584, 128, 576))
NEW = Version(0, 32)


def chosen(
    specs: tuple[KvSpec, ...], platform: Platform = "cuda", target: str | None = "sm_90", version: Version = NEW
) -> int:
    """The block without a wish of the user."""
    return choose_block(specs, KvRequest(0, 1, 1, platform=platform, target=target), version)


def test_plain_attention() -> None:
    assert chosen(FULL) == 16
    assert chosen(FULL, "rocm", "gfx942") == 16
    assert chosen(FULL, "cpu", None) == 128
    assert chosen(LATENT, "cpu", None) == 128


def test_a_wish_is_kept_except_where_kernels_take_one_size_only() -> None:
    request = KvRequest(0, 1, 1, block_size=32)
    assert choose_block(FULL, request, NEW) == 32
    assert choose_block(COMPRESSED, request, NEW) == 256


@pytest.mark.parametrize(
    ("target", "old", "new"), [("sm_90", 64, 16), ("sm_100", 128, 32), ("sm_103", 128, 32), ("sm_120", 16, 16)]
)
def test_latent_attention_by_backend(target: str, old: int, new: int) -> None:
    assert chosen(LATENT, target=target, version=Version(0, 14)) == old
    assert chosen(LATENT, target=target, version=Version(0, 22)) == new
    assert chosen(LATENT, "rocm", "gfx950", Version(0, 14)) == 16


def test_sparse_attention() -> None:
    assert chosen(SPARSE) == 64
    assert chosen(SPARSE, "rocm", "gfx950") == 16
    assert chosen(BLOCKWISE) == 128
    assert chosen(COMPRESSED, "rocm", "gfx942") == 256


def test_hybrid_alignment() -> None:
    rules = kv_rules(NEW)
    # Qwen3.8-27B with fp8 cache over two ranks: 1,603,584 / (16 x 1,024) = 97.9 -> 98 x 16
    # https://github.com/mitchross/talos-argocd-proxmox/pull/1995
    hybrid = (KvSpec("state", 48, 1_603_584), KvSpec("full", 16, 1024))
    assert align_block(16, hybrid, rules) == 1568
    assert align_block(4096, hybrid, rules) == 4096
    assert align_block(16, FULL, rules) == 16
    assert align_block(16, (KvSpec("state", 48, 1_603_584),), rules) == 16


def test_latent_hybrids_align_to_128_since_0_27() -> None:
    # K3 over 8 ranks: 814,080 / 1,152 = 706.7 tokens
    hybrid = (KvSpec("state", 69, 814_080, scan="kda"), KvSpec("mla", 24, 1152))
    assert align_block(16, hybrid, kv_rules(Version(0, 26))) == 720
    assert align_block(16, hybrid, kv_rules(Version(0, 27))) == 768
