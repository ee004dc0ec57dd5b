"""One version of vLLM on one card, as the memory formulas ask it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.engine import VllmEngine, make_vllm
from tonnage.errors import LayoutError, UnsupportedError, UsageError
from tonnage.figure import exact
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.memory.engine import Limits
from tonnage.memory.rank_view import RankView
from tonnage.memory.weights import weigh
from tonnage.model.arch import Arch, Layer, Rope
from tonnage.model.quantization.formats import AWQ_INT4
from tonnage.model.quantization.scheme import Rule, Scheme

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]
MakeView = Callable[..., RankView]

GIB = 2**30


@pytest.fixture
def engine(make_card: MakeCard) -> VllmEngine:
    """The newest rules on a card of 80 GiB."""
    return make_vllm(None, make_card())


def test_a_version_newer_than_the_rules_is_noted(make_card: MakeCard) -> None:
    engine = make_vllm("0.50.0", make_card())
    assert engine.version == "0.33.0"
    assert engine.notes == ("vLLM 0.50.0 is newer than the rules known here: rules of 0.33.0",)
    assert make_vllm("0.11.2", make_card()).notes == ()


def test_no_version_at_all_is_refused(make_card: MakeCard) -> None:
    with pytest.raises(UsageError, match="vLLM version: banana"):
        make_vllm("banana", make_card())


@pytest.mark.parametrize(
    ("vendor", "platform"), [("nvidia", "cuda"), ("amd", "rocm"), ("host", "cpu"), ("intel", "other")]
)
def test_platforms(make_card: MakeCard, vendor: str, platform: str) -> None:
    device = make_vllm(None, make_card(vendor, None)).device
    assert (device.platform, device.memory_bytes, device.name) == (platform, 80 * GIB, "Card")


@pytest.mark.parametrize(
    ("version", "tokens", "seqs", "fraction"),
    [
        # One request of 4,096 tokens: V0 takes max(4096, 2048) tokens and 256 requests.
        ("0.6.6", 4096, 256, 0.90),
        ("0.10.0", 8192, 1024, 0.90),
        ("0.19.0", 8192, 1024, 0.90),
        ("0.20.0", 8192, 1024, 0.92),
        ("0.33.0", 8192, 1024, 0.92),
    ],
)
def test_defaults_of_a_version_on_80_gib(
    make_arch: MakeArch, make_card: MakeCard, version: str, tokens: int, seqs: int, fraction: float
) -> None:
    serving = make_vllm(version, make_card()).serving(gather_parts(make_arch()), Layout(), Limits())
    assert (serving.max_num_batched_tokens, serving.max_num_seqs, serving.fraction) == (tokens, seqs, fraction)
    assert (serving.max_model_len, serving.kv_dtype, serving.block_size) == (4096, "bfloat16", None)


def test_what_was_asked_goes_before_defaults(make_arch: MakeArch, engine: VllmEngine) -> None:
    limits = Limits(2048, 16, 512, 0.5, "fp8", 32, True, 10**9, 10**8, 4)
    serving = engine.serving(gather_parts(make_arch()), Layout(), limits)
    assert (serving.max_model_len, serving.max_num_seqs, serving.max_num_batched_tokens) == (2048, 16, 512)
    assert (serving.fraction, serving.kv_dtype, serving.block_size, serving.eager) == (0.5, "fp8", 32, True)
    assert (serving.kv_bytes, serving.offload_bytes, serving.concurrency) == (10**9, 10**8, 4)


def test_cpu_defaults_grow_with_the_ranks(make_arch: MakeArch, make_card: MakeCard) -> None:
    # 2,048 tokens and 128 requests for each of 2 x 2 ranks.
    engine = make_vllm(None, make_card("host", None))
    serving = engine.serving(gather_parts(make_arch()), Layout(tp=2, pp=2), Limits())
    assert (serving.max_num_batched_tokens, serving.max_num_seqs) == (8192, 512)


@pytest.mark.parametrize(("version", "sizes"), [("0.6.6", [2, 2, 3]), ("0.8.5", [2, 3, 2]), ("0.33.0", [2, 3, 2])])
def test_the_layer_left_over_by_version(make_card: MakeCard, version: str, sizes: list[int]) -> None:
    # 7 layers over 3 stages: V0 put the remainder on the last one, later versions spare it.
    stages = make_vllm(version, make_card()).stages(7, Layout(pp=3))
    assert [len(stage) for stage in stages] == sizes


def test_ends_of_a_pipeline(make_arch: MakeArch, engine: VllmEngine) -> None:
    llama = make_arch()
    assert engine.ends(llama, is_first=True, is_last=False) == (True, False)
    assert engine.ends(llama, is_first=False, is_last=True) == (False, True)
    qwen = make_arch(architectures=("Qwen3MoeForCausalLM",))
    assert engine.ends(qwen, is_first=False, is_last=False) == (True, True)


def test_refusals(make_arch: MakeArch, make_card: MakeCard, engine: VllmEngine) -> None:
    parts = gather_parts(make_arch())
    assert engine.refusal(parts, Layout(tp=8)) is None
    assert isinstance(engine.refusal(parts, Layout(tp=3)), LayoutError)
    awq = gather_parts(make_arch(scheme=Scheme("awq", (Rule("", AWQ_INT4),))))
    assert isinstance(make_vllm(None, make_card(target="sm_70")).refusal(awq, Layout()), UnsupportedError)


def test_buffers_are_added_up(
    make_arch: MakeArch, make_view: MakeView, engine: VllmEngine, latent_layer: Layer
) -> None:
    # Table 4,096 x 8 x 2 B, four scales, absorbed 8 heads x 32 x (16 + 16) x 2 B.
    view = make_view(make_arch(latent_layer, ropes=(Rope(4096, 8),)))
    assert engine.buffers(view, weigh(view, engine.store(view.parts.arch))) == 65_536 + 16 + 16_384


def test_a_cpu_absorbs_nothing(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, latent_layer: Layer
) -> None:
    card = make_card("host", None)
    engine = make_vllm(None, card)
    view = make_view(make_arch(latent_layer), card=card)
    assert engine.buffers(view, weigh(view, engine.store(view.parts.arch))) == 16


def test_overheads_have_four_lines(make_arch: MakeArch, make_view: MakeView, engine: VllmEngine) -> None:
    names = [line.name for line in engine.overheads(make_view(make_arch()), 0)]
    assert names == ["activations", "cuda_graphs", "communication", "context"]


def test_budget(make_arch: MakeArch, make_view: MakeView, engine: VllmEngine) -> None:
    # 80 GiB = 85,899,345,920 B; 0.9 of it is 77,309,411,328 B.
    assert engine.budget(make_view(make_arch())) == 77_309_411_328
    assert engine.budget(make_view(make_arch(), fraction=None)) == 79_027_398_247  # 0.92: ...246.4, rounded up


@pytest.mark.parametrize(
    ("version", "pool"),
    [
        # 77,309,411,328 less weights, activations and context; graphs only where they are estimated.
        ("0.19.0", 77_309_411_328 - 6_000_000_000),
        ("0.20.0", 77_309_411_328 - 7_000_000_000),
    ],
)
def test_pool(make_arch: MakeArch, make_card: MakeCard, make_view: MakeView, version: str, pool: int) -> None:
    lines = (
        exact("weights", 4_000_000_000, ""),
        exact("activations", 1_500_000_000, ""),
        exact("cuda_graphs", 1_000_000_000, ""),
        exact("context", 500_000_000, ""),
    )
    engine = make_vllm(version, make_card())
    assert engine.pool(make_view(make_arch()), 4_000_000_000, lines) == pool


def test_a_pool_may_be_negative(make_arch: MakeArch, make_view: MakeView, engine: VllmEngine) -> None:
    lines = (exact("weights", 77_309_411_328 + 5, ""),)
    assert engine.pool(make_view(make_arch()), 0, lines) == -5


def test_stored_bytes(make_arch: MakeArch, make_view: MakeView, engine: VllmEngine) -> None:
    # 328,256 elements of 2 B.
    view = make_view(make_arch())
    assert weigh(view, engine.store(view.parts.arch)).total == 656_512


def test_load_peak(make_arch: MakeArch, make_view: MakeView, engine: VllmEngine) -> None:
    # The largest matrix has 128 x 64 x 2 B.
    assert engine.load_peak(make_view(make_arch()), 656_512) == 656_512 + 16_384


def test_plan_of_a_pool(make_arch: MakeArch, make_view: MakeView, engine: VllmEngine) -> None:
    # A token: 4 layers x 4 heads x (16 + 16) x 2 B = 1,024 B; a block of 16: 16,384 B.
    pool = engine.plan_pool(make_view(make_arch()), 16_384 * 1000)
    assert (pool.num_blocks, pool.block_size, pool.token_bytes) == (1000, 16, 1024)
    assert pool.needed_bytes == 256 * 16_384
    assert pool.fits
