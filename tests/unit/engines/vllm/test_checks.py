"""What vLLM refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.checks import EngineCard, find_refusal
from tonnage.engines.vllm.version import Version
from tonnage.errors import LayoutError, UnsupportedError
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.layout.widths import plain_widths
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.model.quantization.formats import FP8_BLOCK_128, GPTQ_INT4, NF4, W4A16_CHANNEL
from tonnage.model.quantization.scheme import Format, Rule, Scheme

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]

OLD, NEW = Version(0, 11), Version(0, 33)
BLOCKS = Scheme("fp8", (Rule("", None, ("lm_head", "**.gate")), Rule("", FP8_BLOCK_128)))
# Qwen3-235B-A22B: 64 query and 4 KV heads of 128, 128 experts of 1536.
QWEN = Layer((Gqa(64, 4, 128, 128),), (Moe(128, 1536, 8),))


def refusal(arch: Arch, layout: Layout, card: Accelerator, version: Version = NEW) -> LayoutError | None:
    """vLLM's answer to a layout."""
    return find_refusal(gather_parts(arch), layout, plain_widths(layout), EngineCard(version, card))


def line(arch: Arch, layout: Layout, card: Accelerator, version: Version = NEW) -> str:
    """The text of a refusal that must come."""
    reason = refusal(arch, layout, card, version)
    assert reason is not None
    return reason.line


@pytest.mark.parametrize("layout", [Layout(), Layout(tp=2), Layout(tp=8), Layout(tp=4, pp=2), Layout(tp=2, dp=4)])
def test_accepted(make_arch: MakeArch, make_card: MakeCard, layout: Layout) -> None:
    assert refusal(make_arch(), layout, make_card()) is None


@pytest.mark.parametrize("tp", [3, 5, 6, 7, 16])
def test_heads_must_divide(make_arch: MakeArch, make_card: MakeCard, tp: int) -> None:
    text = line(make_arch(), Layout(tp=tp), make_card())
    assert text == f"tp: {tp}: total number of attention heads (8) must be divisible by tensor parallel size"


def test_heads_of_latent_attention_too(make_arch: MakeArch, make_card: MakeCard, latent_layer: Layer) -> None:
    assert "attention heads (8)" in line(make_arch(latent_layer), Layout(tp=3), make_card())


def test_whole_experts_need_experts(make_arch: MakeArch, make_card: MakeCard, mixture_layer: Layer) -> None:
    layout = Layout(tp=2, ep=True)
    assert line(make_arch(), layout, make_card()).startswith("ep: dense model:")
    assert refusal(make_arch(mixture_layer), layout, make_card()) is None
    # Uneven numbers of experts are no obstacle: 8 over 3 replicas.
    assert refusal(make_arch(mixture_layer), Layout(dp=3, ep=True), make_card()) is None


def test_redundant_experts_need_whole_experts(make_arch: MakeArch, make_card: MakeCard, mixture_layer: Layer) -> None:
    text = line(make_arch(mixture_layer), Layout(tp=2, redundant_experts=2), make_card())
    assert text.startswith("redundant experts: 2:")


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        (Layout(tp=8, dcp=3), "dcp: 3: a divisor of the tensor parallel size 8"),
        # 4 KV heads over 8 ranks: two copies of each, one of which the context may be divided over.
        (Layout(tp=8, dcp=4), "dcp: 4: at most 2: 4 KV heads over 8 ranks"),
        (Layout(tp=4, dcp=2), "dcp: 2: at most 1: 4 KV heads over 4 ranks"),
    ],
)
def test_context_parallelism_needs_copies_of_heads(
    make_arch: MakeArch, make_card: MakeCard, layout: Layout, reason: str
) -> None:
    assert line(make_arch(), layout, make_card()) == reason


def test_context_parallelism_divides_the_queries_of_a_head(make_arch: MakeArch, make_card: MakeCard) -> None:
    # 24 query heads for 2 KV heads: 12 each, which 8 does not divide.
    arch = make_arch(Layer((Gqa(48, 2, 16, 16),), (Dense(128),)))
    assert refusal(arch, Layout(tp=16, dcp=8), make_card()) is None
    arch = make_arch(Layer((Gqa(32, 2, 16, 16), Gqa(32, 2, 16, 16)), (Dense(128),)))
    assert refusal(arch, Layout(tp=16, dcp=8), make_card()) is None
    arch = make_arch(Layer((Gqa(16, 4, 16, 16),), (Dense(128),)))
    assert refusal(arch, Layout(tp=16, dcp=4), make_card()) is None
    arch = make_arch(Layer((Gqa(16, 8, 16, 16),), (Dense(128),)))
    assert refusal(arch, Layout(tp=16, dcp=2), make_card()) is None
    arch = make_arch(Layer((Gqa(48, 16, 16, 16),), (Dense(384),)))
    assert line(arch, Layout(tp=48, dcp=2), make_card()) == "dcp: 2: a divisor of the 3 query heads of each KV head"


def test_every_rank_holds_a_latent_cache(make_arch: MakeArch, make_card: MakeCard) -> None:
    arch = make_arch(Layer((Mla(8, None, 32, 16, 8, 16),), (Dense(128),)))
    assert refusal(arch, Layout(tp=8, dcp=8), make_card()) is None


@pytest.mark.parametrize("version", [Version(0, 8, 5), OLD, Version(0, 26)])
def test_qwen3_235b_in_fp8_blocks_over_8_ranks(make_arch: MakeArch, make_card: MakeCard, version: Version) -> None:
    # 1536 / 8 = 192 = 128 + 64.
    arch = make_arch(QWEN, hidden=4096, scheme=BLOCKS)
    text = line(arch, Layout(tp=8), make_card(), version)
    assert text == (
        "mlp.experts.gate_proj: 192 output features a rank: a multiple of the weight quantization block_n = 128"
    )


@pytest.mark.parametrize("layout", [Layout(tp=4), Layout(tp=8, ep=True), Layout(tp=4, pp=2), Layout(dp=8, ep=True)])
def test_its_ways_out(make_arch: MakeArch, make_card: MakeCard, layout: Layout) -> None:
    arch = make_arch(QWEN, QWEN, hidden=4096, scheme=BLOCKS)
    assert refusal(arch, layout, make_card(), OLD) is None


def test_later_versions_refine_the_blocks(make_arch: MakeArch, make_card: MakeCard) -> None:
    # 64 divides 192 and 4096.
    arch = make_arch(QWEN, hidden=4096, scheme=BLOCKS)
    assert refusal(arch, Layout(tp=8), make_card(), Version(0, 31)) is not None
    assert refusal(arch, Layout(tp=8), make_card(), Version(0, 32)) is None


def test_blocks_of_dense_parts_are_never_refined(make_arch: MakeArch, make_card: MakeCard) -> None:
    # Inner width 1536 over 8 ranks, no experts: gate and up are refused first.
    arch = make_arch(Layer((Gqa(64, 8, 128, 128),), (Dense(1536),)), hidden=4096, scheme=BLOCKS)
    assert "mlp.gate_proj: 192 output features" in line(arch, Layout(tp=8), make_card())


def test_input_features_hold_whole_blocks_too(make_arch: MakeArch, make_card: MakeCard) -> None:
    # Only the output projection is quantised: 12 heads x 64 = 768 over 4 ranks is 192.
    scheme = Scheme("fp8", (Rule("", FP8_BLOCK_128, ("layers.*.self_attn.o_proj",)), Rule("", None)))
    arch = make_arch(Layer((Gqa(12, 4, 64, 64),), (Dense(1024),)), hidden=768, scheme=scheme)
    text = line(arch, Layout(tp=4), make_card())
    assert text == "self_attn.o_proj: 192 input features a rank: a multiple of the weight quantization block_k = 128"


def test_uneven_shards_of_blocks_name_the_division(make_arch: MakeArch, make_card: MakeCard) -> None:
    arch = make_arch(Layer((Gqa(6, 6, 128, 128),), (Dense(1024),)), hidden=768, scheme=BLOCKS)
    assert "1024 pieces over 3 ranks" in line(arch, Layout(tp=3), make_card())


def grouped(make_arch: MakeArch, width: int, form: Format = GPTQ_INT4) -> Arch:
    """A dense model of that inner width, in groups of 128 unless another format is given."""
    layer = Layer((Gqa(64, 8, 128, 128),), (Dense(width),))
    return make_arch(layer, hidden=8192, scheme=Scheme("gptq", (Rule("", None, ("lm_head",)), Rule("", form))))


def test_groups_of_input_features_stay_together(make_arch: MakeArch, make_card: MakeCard) -> None:
    # Qwen2-72B: 29,568 / 8 = 3,696 = 28 x 128 + 112.
    text = line(grouped(make_arch, 29_568), Layout(tp=8), make_card())
    assert text == "mlp.down_proj: 3696 input features a rank: a multiple of the group size 128"


@pytest.mark.parametrize(
    ("width", "tp", "form"),
    [
        (29_568, 1, GPTQ_INT4),  # 231 whole groups
        (29_696, 8, GPTQ_INT4),  # as padded by its publisher: 29 groups a rank
        (29_568, 8, W4A16_CHANNEL),  # one scale a row
        (29_568, 8, NF4),  # made by the engine while it loads
    ],
)
def test_other_cuts_part_no_group(make_arch: MakeArch, make_card: MakeCard, width: int, tp: int, form: Format) -> None:
    assert refusal(grouped(make_arch, width, form), Layout(tp=tp), make_card()) is None


@pytest.mark.parametrize(
    ("method", "vendor", "target", "reason"),
    [
        ("awq", "nvidia", "sm_70", "awq needs compute capability 7.5; this card has 7.0"),
        ("fbgemm_fp8", "nvidia", "sm_75", "fbgemm_fp8 needs compute capability 8.0; this card has 7.5"),
        ("bitsandbytes", "amd", "gfx942", "bitsandbytes quantization is currently not supported in rocm"),
        ("fp8", "amd", "gfx90a", "gfx90a has no FP8 arithmetic; fp8 needs gfx94x, gfx95x, gfx12x"),
    ],
)
def test_formats_a_card_does_not_run(
    make_arch: MakeArch, make_card: MakeCard, method: str, vendor: str, target: str, reason: str
) -> None:
    arch = make_arch(scheme=Scheme(method, (Rule("", GPTQ_INT4),)))
    found = refusal(arch, Layout(), make_card(vendor, target, name="Old Card"))
    assert isinstance(found, UnsupportedError)
    assert found.line == f"{method}: not on Old Card: {reason}"


@pytest.mark.parametrize(("vendor", "target"), [("host", None), ("intel", "gaudi3"), ("nvidia", None)])
def test_formats_nobody_tabled_are_not_refused(
    make_arch: MakeArch, make_card: MakeCard, vendor: str, target: str | None
) -> None:
    arch = make_arch(scheme=Scheme("awq", (Rule("", GPTQ_INT4),)))
    assert refusal(arch, Layout(), make_card(vendor, target)) is None


def test_a_broken_layout_comes_before_the_format(make_arch: MakeArch, make_card: MakeCard) -> None:
    arch = make_arch(scheme=Scheme("awq", (Rule("", GPTQ_INT4),)))
    assert line(arch, Layout(tp=3), make_card("nvidia", "sm_70")).startswith("tp: 3:")
