"""The peak of the profiling run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.engines.vllm.activations import (
    BYTES_PER_LOGIT,
    SORTING_BYTES_PER_LOGIT,
    activation_line,
    projection_bytes,
    sampler_peak_bytes,
    workspace_bytes,
)
from tonnage.engines.vllm.version import Version
from tonnage.layout.layout import Layout
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.mla import Mla

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]

OLD, NEW = Version(0, 11), Version(0, 33)
DEEPSEEK = Layer((Mla(128, 1536, 512, 128, 64, 128),), (Dense(18432),))


def test_logits_of_every_request(make_arch: MakeArch, make_view: MakeView) -> None:
    # 256 requests x 128,256 words = 32,833,536 logits; 1.26 GiB were logged with sorting (vLLM PR 10511).
    arch = make_arch(vocab=128_256)
    size = sampler_peak_bytes(make_view(arch, max_num_seqs=256), OLD)
    assert size == 32_833_536 * SORTING_BYTES_PER_LOGIT
    assert size / 2**30 == pytest.approx(1.26, rel=0.1)
    assert sampler_peak_bytes(make_view(arch, max_num_seqs=256), NEW) == 32_833_536 * BYTES_PER_LOGIT


def test_rows_are_bounded_by_the_tokens_of_a_step(make_arch: MakeArch, make_view: MakeView) -> None:
    view = make_view(make_arch(), max_num_seqs=1024, max_num_batched_tokens=512)
    assert sampler_peak_bytes(view, NEW) == 512 * 1000 * BYTES_PER_LOGIT


def test_tensor_parallelism_does_not_shrink_the_logits(make_arch: MakeArch, make_view: MakeView) -> None:
    one, eight = (sampler_peak_bytes(make_view(make_arch(), Layout(tp=tp)), NEW) for tp in (1, 8))
    assert one == eight


def test_only_the_last_stage_samples(make_arch: MakeArch, make_view: MakeView) -> None:
    arch, layout = make_arch(), Layout(pp=2)
    assert sampler_peak_bytes(make_view(arch, layout, layers=range(2)), NEW) == 0
    assert sampler_peak_bytes(make_view(arch, layout, layers=range(2, 4)), NEW) > 0


@pytest.mark.parametrize(
    ("length", "seqs", "block", "tokens"),
    [
        (163_840, 256, None, 65_536),
        (4096, 16, None, 32_768),  # eight full requests
        (1024, 256, None, 65_536),  # four pages of 64 for each request
        (1024, 64, 16, 8192),  # 4 x 64 x 16 = 4,096 is less than 8 x 1,024
        (1024, 256, 16, 16_384),
    ],
)
def test_gathered_context(
    make_arch: MakeArch, make_view: MakeView, length: int, seqs: int, block: int | None, tokens: int
) -> None:
    view = make_view(
        make_arch(DEEPSEEK, hidden=7168), Layout(tp=8), max_model_len=length, max_num_seqs=seqs, block_size=block
    )
    # 512 + 64 values; projected up 16 heads x (192 + 128).
    assert workspace_bytes(view) == tokens * 576 * 2
    assert projection_bytes(view) == tokens * 16 * 320 * 2


def test_no_latent_attention_no_workspace(make_arch: MakeArch, make_view: MakeView) -> None:
    view = make_view(make_arch())
    assert (workspace_bytes(view), projection_bytes(view)) == (0, 0)


def test_the_larger_of_forward_and_sampler(make_arch: MakeArch, make_view: MakeView) -> None:
    # Forward 3 x (128 + 64) x 2 B = 1,152 B a token.
    long = activation_line(make_view(make_arch(), max_num_seqs=1, max_num_batched_tokens=8192), NEW)
    assert long.bytes == 1_152 * 8192
    many = activation_line(make_view(make_arch(), max_num_seqs=2048, max_num_batched_tokens=2048), NEW)
    assert many.bytes == 2048 * 1000 * BYTES_PER_LOGIT
    assert many.low < many.bytes < many.high
    assert many.basis == "derived"


def test_the_workspace_is_on_top(make_arch: MakeArch, make_view: MakeView, latent_layer: Layer) -> None:
    view = make_view(make_arch(latent_layer), max_num_seqs=1, max_num_batched_tokens=65_536, max_model_len=128)
    # Workspace 8 x 128 = 1,024 tokens x 40 x 2 B. Forward: 64 + 2 x 8 x 24 + 8 x 32 + 40 = 744 values of 2 B a token.
    assert activation_line(view, NEW).bytes == 744 * 2 * 65_536 + 81_920
    assert "latent workspace 81,920 B" in activation_line(view, NEW).trace
