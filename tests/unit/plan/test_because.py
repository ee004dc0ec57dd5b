"""Reasons in sentences, from the architecture and the layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.layout.layout import Layout
from tonnage.layout.widths import plain_widths
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mla import Mla
from tonnage.plan.because import cache_reasons, layout_reasons
from tonnage.plan.fit import answer_question
from tonnage.plan.question import Question

MakeArch = Callable[..., Arch]

ATTENTION = Gqa(8, 4, 16, 16)
LATENT = Mla(8, None, 32, 16, 8, 16)
COMPRESSED = Compressed(8, 16, 8, 32, 32, 2, 4, 128)


def layer(mixer: Any, *parts: Any) -> Layer:
    """A layer of one mixer."""
    return Layer((mixer,), parts or (Dense(128),))


def because(model: str, gpu: str, **fields: Any) -> list[str]:
    """The reasons of a whole answer."""
    reasons: list[str] = answer_question(Question(model, gpu, **fields), with_remedies=False)["because"]
    return reasons


def of_layout(arch: Arch, layout: Layout) -> list[str]:
    """What follows from cutting it so, as vLLM cuts."""
    return list(layout_reasons(arch, layout, plain_widths(layout)))


class TestLayout:
    """What a layout does to a model."""

    @pytest.mark.parametrize(
        ("layout", "sentence"),
        [
            (Layout(tp=4), None),
            (Layout(tp=8), "4 KV heads are replicated twice at TP8"),
            (Layout(tp=16), "4 KV heads are replicated 4 times at TP16"),
            (Layout(tp=8, dcp=2), None),  # the copies hold other positions
        ],
    )
    def test_heads(self, layout: Layout, sentence: str | None, make_arch: MakeArch) -> None:
        assert of_layout(make_arch(layer(ATTENTION)), layout) == ([sentence] if sentence else [])

    def test_a_single_head(self, make_arch: MakeArch) -> None:
        arch = make_arch(layer(Gqa(8, 1, 16, 16)))
        assert of_layout(arch, Layout(tp=2)) == ["the KV head is replicated twice at TP2"]

    @pytest.mark.parametrize(
        ("layout", "sentence"),
        [
            (Layout(), None),
            (Layout(tp=8), "MLA latents are copied to each rank"),
            (Layout(tp=8, dcp=8), "latents are divided over 8 ranks by their positions"),
            (Layout(dp=8), "each replica caches its own requests only, and holds all of the attention"),
        ],
    )
    def test_latents(self, layout: Layout, sentence: str | None, make_arch: MakeArch) -> None:
        assert of_layout(make_arch(layer(LATENT)), layout) == ([sentence] if sentence else [])

    def test_compressed_entries(self, make_arch: MakeArch) -> None:
        assert of_layout(make_arch(layer(COMPRESSED)), Layout(tp=2)) == ["cached entries are copied to each rank"]

    @pytest.mark.parametrize(
        ("layout", "sentence"),
        [
            (Layout(dp=4, ep=True), None),  # 32 / 4 = 8 each
            (Layout(dp=3, ep=True), "32 experts do not divide by 3: some ranks hold 11, others 10"),
            (Layout(dp=3), None),  # each expert is cut
        ],
    )
    def test_experts(self, layout: Layout, sentence: str | None, make_arch: MakeArch) -> None:
        arch = make_arch(layer(ATTENTION, Moe(32, 16, 4)))
        assert of_layout(arch, layout) == ([sentence] if sentence else [])


class TestCache:
    """What the kinds of attention mean."""

    @pytest.mark.parametrize(
        ("layers", "sentence"),
        [
            ([ATTENTION] * 4, None),
            (
                [Kda(8, 16, 4)] * 3 + [ATTENTION],
                "3 of 4 layers keep a state of fixed size in place of a cache that grows",
            ),
            ([Gqa(8, 4, 16, 16, window=1024)] * 5 + [ATTENTION], "5 of 6 layers see only the last 1,024 tokens"),
            ([Gqa(8, 4, 16, 16, chunk=8192)] * 3 + [ATTENTION], "3 of 4 layers see only their chunk of 8,192 tokens"),
            ([ATTENTION, Gqa(8, 4, 16, 16, kv_from_layer=0)], "1 of 2 layers read the cache of another layer"),
            ([COMPRESSED, Compressed(8, 16, 8, 32, 32, 2, 128, 128)], "4 or 128 tokens share one cached entry"),
            (
                [Mla(8, 16, 32, 16, 8, 16, Indexer(4, 128, 2048))],
                "sparse attention reads 2,048 tokens a step, yet all stay cached",
            ),
        ],
    )
    def test_one_sentence_each(self, layers: list[Any], sentence: str | None, make_arch: MakeArch) -> None:
        arch = make_arch(*[layer(mixer) for mixer in layers])
        assert list(cache_reasons(arch)) == ([sentence] if sentence else [])

    def test_two_windows(self, make_arch: MakeArch) -> None:
        windows = [layer(Gqa(8, 4, 16, 16, window=size)) for size in (4096, 512, 512)]
        assert list(cache_reasons(make_arch(*windows))) == [
            "2 of 3 layers see only the last 512 tokens",
            "1 of 3 layers see only the last 4,096 tokens",
        ]


def test_kimi_k3() -> None:
    reasons = because("moonshotai/Kimi-K3", "8xMI355X")
    assert reasons[:3] == [
        "896 experts stay resident though 16 act per token",
        "MLA latents are copied to each rank",
        "69 of 93 layers keep a state of fixed size in place of a cache that grows",
    ]
    assert reasons[3].startswith("2,779.5 billion parameters in 4 bits (experts) and 16 bits (all else) are 1,45")
    assert reasons[-1] == "TP8 is the simplest layout, and it fits"


def test_llama_on_sixteen_ranks() -> None:
    # 405,853,388,800 parameters of 2 B are 811.7 GB or 756 GiB.
    assert because("meta-llama/Meta-Llama-3.1-405B", "2x8xH100", tp=16) == [
        "8 KV heads are replicated twice at TP16",
        "405.9 billion parameters in 16 bits are 756.0 GiB",
    ]


def test_small_models_are_counted_in_millions() -> None:
    # 134,515,008 parameters of 2 B are 256.6 MiB.
    reasons = because("HuggingFaceTB/SmolLM2-135M-Instruct", "1xH100")
    assert reasons == ["135 million parameters in 16 bits are 256.6 MiB"]


def test_stages_of_different_length() -> None:
    # 36 layers over 8 stages: four of 5, four of 4.
    assert "pipeline stages hold 4 to 5 layers" in because("Qwen/Qwen3-8B", "8xH100", tp=1, pp=8)
    assert not any("stages hold" in reason for reason in because("Qwen/Qwen3-8B", "4xH100", tp=1, pp=4))


def test_replicas_of_sglang_divide_the_group() -> None:
    reasons = because("deepseek-ai/DeepSeek-V3", "8xH200", engine="sglang", dp_attention=True)
    assert "each replica caches its own requests only, and holds all of the attention" in reasons


def test_a_refused_layout_has_no_reasons() -> None:
    assert because("Qwen/Qwen3-8B", "8xH100", tp=3) == []
