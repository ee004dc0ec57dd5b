"""Working memory of one forward pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.layout.layout import Layout
from tonnage.layout.widths import Widths, plain_widths
from tonnage.memory.activations import ffn_values, forward_peak_bytes, layer_values, mixer_values
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Mixer

MakeArch = Callable[..., Arch]
MakeView = Callable[..., RankView]

LLAMA_8B = Layer((Gqa(32, 8, 128, 128),), (Dense(14336),))


def widths(tp: int = 1, dp: int = 1, ep: bool = False) -> Widths:
    """Widths of a layout without stages."""
    return plain_widths(Layout(tp=tp, dp=dp, ep=ep))


@pytest.mark.parametrize(
    ("mixer", "tp", "values"),
    [
        # Llama 3.1 8B: input 4096, query and its output 2 x 32 x 128, keys and values 8 x 256.
        (Gqa(32, 8, 128, 128), 1, 4096 + 8192 + 2048),
        (Gqa(32, 8, 128, 128), 8, 4096 + 1024 + 256),
        # 16 ranks hold 2 query heads and a copy of one KV head each.
        (Gqa(32, 8, 128, 128), 16, 4096 + 2 * 2 * 128 + 256),
        # 14 heads over 4 ranks: the largest rank has 4.
        (Gqa(14, 2, 64, 64), 4, 4096 + 2 * 4 * 64 + 128),
        # DeepSeek V3 over 8 ranks: 16 heads x 192 twice, 16 x 256 projected up, latent 512 and 64.
        (Mla(128, 1536, 512, 128, 64, 128), 8, 4096 + 2 * 16 * 192 + 16 * 256 + 576),
        # DeepSeek V4: 8 of 64 heads x 512 twice, low-rank query 1024, one vector of 512.
        (Compressed(64, 512, 64, 1024, 1024, 8, 4, 128), 8, 4096 + 2 * 8 * 512 + 1024 + 512),
        # Qwen3-Next: keys 16 x 128, values 32 x 128, halved by 2 ranks; in and out of q, k, v, z.
        (DeltaNet(16, 32, 128, 128, 4), 2, 4096 + 2 * (2 * 1024 + 2 * 2048)),
        # Kimi Linear: q, k, v and gate of 32 x 128 over 4 ranks, in and out.
        (Kda(32, 128, 4), 4, 4096 + 2 * 4 * 1024),
        # Mamba: channels and gate of 8192 over 2 ranks, in and out.
        (Mamba1(8192, 16, 4, 256), 2, 4096 + 2 * 2 * 8192 // 2),
        # Nemotron-H: 128 heads x 64 channels twice, B and C of 8 groups x 128 twice, over 4 ranks.
        (Mamba2(128, 64, 8, 128, 4), 4, 4096 + 2 * (2 * 8192 + 2 * 1024) // 4),
    ],
)
def test_values_of_mixers(mixer: Mixer, tp: int, values: int) -> None:
    assert mixer_values(mixer, 4096, tp) == values


def test_no_other_mixer_is_known() -> None:
    with pytest.raises(KeyError, match="Dense"):
        mixer_values(Dense(1), 4096, 1)


@pytest.mark.parametrize(
    ("ffn", "split", "values"),
    [
        (Dense(14336), widths(), 3 * (14336 + 4096)),
        (Dense(14336), widths(tp=8), 3 * (1792 + 4096)),
        # Qwen3-235B: 8 active experts of 1536; the second product's output of 4096 outweighs gate and up, 3072.
        (Moe(128, 1536, 8), widths(), 8 * (4096 + 1536) + 3 * 4096),
        # Mixtral 8x7B: gate and up of 14336 outweigh it.
        (Moe(8, 14336, 2), widths(), 2 * (28672 + 14336) + 3 * 4096),
        # Cut over tensor and data parallel ranks alike: 14336 / 16 = 896.
        (Moe(8, 14336, 2), widths(tp=8, dp=2), 2 * (4096 + 896) + 3 * 4096),
        # Whole experts.
        (Moe(8, 14336, 2), widths(tp=8, ep=True), 2 * (28672 + 14336) + 3 * 4096),
        # Kimi K3 and Nemotron 3: routed experts work in a narrower latent.
        (Moe(8, 512, 4, latent=2048), widths(), 4 * (2048 + 512) + 3 * 4096),
        # A shared expert of 1024 over 2 ranks: 3 x 512.
        (Moe(8, 512, 4, shared_width=1024), widths(tp=2), 4 * (4096 + 256) + 3 * 4096 + 1536),
    ],
)
def test_values_of_feed_forward_parts(ffn: Dense | Moe, split: Widths, values: int) -> None:
    assert ffn_values(ffn, 4096, split) == values


def test_the_larger_part_of_a_layer_decides() -> None:
    assert layer_values(LLAMA_8B, 4096, widths()) == 3 * (14336 + 4096)
    wide = Layer((Gqa(64, 64, 128, 128),), (Dense(1024),))
    # Attention 4096 + 2 x 8192 + 64 x 256 = 36,864 against 3 x 5,120 = 15,360.
    assert layer_values(wide, 4096, widths()) == 36_864


def test_a_layer_without_parts_passes_its_input_on() -> None:
    assert layer_values(Layer((), ()), 4096, widths()) == 4096


@pytest.mark.parametrize(("tokens", "gib"), [(20_000, 2.06), (29_000, 2.99)])
def test_two_prompt_lengths_of_llama_8b(make_arch: MakeArch, make_view: MakeView, tokens: int, gib: float) -> None:
    # https://github.com/vllm-project/vllm/issues/10517: 17.06 and 17.98 GiB with weights of 14.9888.
    # 2 B x 3 x (14336 + 4096) x 20,000 = 2,211,840,000 B = 2.060 GiB.
    view = make_view(make_arch(LLAMA_8B, hidden=4096))
    assert forward_peak_bytes(view, tokens) / 2**30 == pytest.approx(gib, abs=0.006)
    assert forward_peak_bytes(view, 20_000) == 2_211_840_000


def test_only_layers_of_the_rank_count(
    make_arch: MakeArch, make_view: MakeView, dense_layer: Layer, mixture_layer: Layer
) -> None:
    # Dense: 3 x (128 + 64) = 576. Mixture: 2 x (64 + 32) + 3 x 64 + 3 x 32 = 480.
    arch = make_arch(dense_layer, mixture_layer)
    assert forward_peak_bytes(make_view(arch), 10) == 576 * 10 * 2
    assert forward_peak_bytes(make_view(arch, layers=range(1, 2)), 10) == 480 * 10 * 2
