from __future__ import annotations

from collections.abc import Callable

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.llamacpp.build import NEWEST, Build
from tonnage.engines.llamacpp.compute import compute_bytes, compute_line, encoder_bytes
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Tower
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.tensor import Tensor

ArchOf = Callable[..., Arch]
ViewOf = Callable[..., RankView]
MIB = 2**20
NEW = Build(NEWEST)


def test_logits_of_a_micro_batch_on_the_last_device(
    card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf
) -> None:
    # 5,000 logits of 4 B are more than 512 values of 4 B and a mask of 4,096 x 2 B; residuals 2 x 512 x 4 B.
    arch = arch_of(gqa, gqa, gqa, vocab=5000)
    assert compute_bytes(NEW, view_of(arch, card, 2, 1), True) == 512 * (20_000 + 4096)
    assert compute_bytes(NEW, view_of(arch, card, 2, 0), True) == 512 * (2048 + 8192 + 4096)


def test_logits_of_qwen3_235b(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    # 312.75 MiB on the last card of several logs.
    view = view_of(arch_of(gqa, hidden=4096, vocab=151_936), card)
    assert compute_bytes(NEW, view, True) == int(312.75 * MIB)


def test_scores_of_all_heads_without_flash_attention(
    card: Accelerator, gqa: Gqa, mla: Mla, arch_of: ArchOf, view_of: ViewOf
) -> None:
    # 4,096 x 512 x 8 heads x 4 B, and a mask of 4 B.
    assert compute_bytes(NEW, view_of(arch_of(gqa), card), False) == 64 * MIB + 512 * 4096 + 4096 * 512 * 4
    assert compute_bytes(NEW, view_of(arch_of(mla), card), False) > 4096 * 512 * 128 * 4


def test_scores_of_gemma_3_27b_at_its_full_context(card: Accelerator, arch_of: ArchOf, view_of: ViewOf) -> None:
    arch = arch_of(Gqa(32, 16, 128, 128), ffn=Dense(21504), hidden=5376, vocab=262_208)
    size = compute_bytes(NEW, view_of(arch, card, max_model_len=131_072), False)
    # A log without flash attention says 8,743.5 MiB.
    assert abs(size / MIB - 8743.5) < 0.05 * 8743.5


def test_the_fork_expands_the_latent_for_prompts(card: Accelerator, mla: Mla, arch_of: ArchOf, view_of: ViewOf) -> None:
    view = view_of(arch_of(mla), card, max_model_len=32_768)
    # 32,768 x 128 heads x 320 values x 2 B = 2.5 GiB.
    assert compute_bytes(Build(NEWEST, True, 3), view, True) > 2560 * MIB
    assert compute_bytes(Build(NEWEST, True, 1), view, True) < 2**30


def test_experts_work_side_by_side(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    arch = arch_of(gqa, gqa, ffn=Moe(8, 64, 2))
    # Two experts of 3 x 64 + 512 values: 1,408.
    assert compute_bytes(NEW, view_of(arch, card, 2, 0), True) == 512 * (1408 * 4 + 4096 + 8192)


def test_states_need_no_scores(card: Accelerator, arch_of: ArchOf, view_of: ViewOf) -> None:
    view = view_of(arch_of(DeltaNet(4, 4, 64, 64, 4)), card)
    assert compute_bytes(NEW, view, False) == 512 * (2048 + 4096 + 4096 * 4)


def test_the_line_has_a_band(card: Accelerator, gqa: Gqa, arch_of: ArchOf, view_of: ViewOf) -> None:
    line = compute_line(NEW, view_of(arch_of(gqa), card))
    assert line.name == "activations"
    assert line.low < line.bytes < line.high
    assert "512 tokens" in line.trace


def test_encoders_in_16_bit(gqa: Gqa, arch_of: ArchOf) -> None:
    arch = arch_of(gqa, towers=(Tower("vision", 1, 8, (Tensor("visual.a", 8, 8),)),))
    assert encoder_bytes(arch) == 128
    assert encoder_bytes(arch_of(gqa)) == 0
