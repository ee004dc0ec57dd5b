"""The ledger of every rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.engine import make_vllm
from tonnage.errors import LayoutError
from tonnage.figure import Line
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.memory.engine import Limits
from tonnage.model.arch import Arch, Layer, Rope, Tower
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.tensor import Tensor
from tonnage.plan.evaluate import Evaluation, Job, evaluate
from tonnage.value import replace

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]
RunJob = Callable[..., Evaluation]

GIB = 2**30


@pytest.fixture
def run(make_card: MakeCard) -> RunJob:
    """Evaluates a model on cards of 80 GiB under the newest rules of vLLM."""

    def run(arch: Arch, layout: Layout | None = None, adjust: Any = None, **limits: Any) -> Evaluation:
        card = make_card()
        job = Job(
            gather_parts(arch), make_vllm(None, card), card, layout or Layout(), Limits(**limits), 80 * GIB, adjust
        )
        return evaluate(job)

    return run


def test_one_rank(make_arch: MakeArch, run: RunJob) -> None:
    # 656,512 B of parameters, 4 layers x 16 B of scales, a table of 4,096 x 16 x 2 B.
    found = run(make_arch(ropes=(Rope(4096, 16),)))
    assert len(found.ranks) == 1
    assert found.weights_bytes == 656_512 + 64 + 131_072
    ledger = found.busiest.ledger
    assert [line.name for line in ledger.lines] == [
        "weights", "activations", "cuda_graphs", "communication", "context", "kv_cache",
    ]  # fmt: skip
    assert ledger.budget_bytes == 79_027_398_247  # 0.92 x 80 GiB, rounded up
    assert ledger.used_bytes == ledger.budget_bytes
    assert found.refusal is None


def test_every_rank_of_a_layout_has_its_number(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), Layout(tp=2, pp=2))
    assert [rank.ledger.rank for rank in found.ranks] == [0, 1, 2, 3]
    assert [rank.view.rank for rank in found.ranks] == [0, 1, 2, 3]
    assert [rank.view.layers for rank in found.ranks] == [range(2), range(2), range(2, 4), range(2, 4)]


def test_stages_hold_their_ends(make_arch: MakeArch, run: RunJob) -> None:
    # Two layers of 98,560 B on each stage; a table of 131,072 B on both; the last has the norm of 128 B. Scales 2 x 16.
    found = run(make_arch(), Layout(pp=2))
    assert [rank.weights_bytes for rank in found.ranks] == [328_192 + 32, 328_320 + 32]


def test_a_tied_table_is_on_both_ends(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(tied=True), Layout(pp=4))
    # One layer each; tables on the first and on the last, with the norm.
    assert [rank.weights_bytes - 16 for rank in found.ranks] == [98_560 + 131_072, 98_560, 98_560, 98_560 + 131_200]


def test_equal_stages_share_their_lines_and_name_their_own_layers(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), Layout(pp=4))
    middle = [rank.ledger for rank in found.ranks[1:3]]
    assert [ledger.lines[0].bytes for ledger in middle] == [98_560 + 16] * 2
    assert [ledger.lines[0].trace.partition(",")[0] for ledger in middle] == ["layers 1-1 of 4", "layers 2-2 of 4"]
    assert [ledger.rank for ledger in middle] == [1, 2]


def test_stages_with_other_windows_are_not_equal(make_arch: MakeArch, run: RunJob, dense_layer: Layer) -> None:
    # Their tensors are alike, what they keep of a request is not.
    sliding = Layer((Gqa(8, 4, 16, 16, window=512),), dense_layer.ffns, dense_layer.extras)
    found = run(make_arch(dense_layer, dense_layer, sliding, dense_layer), Layout(pp=4))
    assert found.ranks[1].weights_bytes == found.ranks[2].weights_bytes
    assert [rank.view.mixers[0].window for rank in found.ranks] == [None, None, 512, None]


def test_data_parallel_replicas_repeat_stages(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), Layout(pp=2, dp=2))
    assert [rank.view.layers.start for rank in found.ranks] == [0, 2, 0, 2]
    assert found.ranks[0].weights_bytes == found.ranks[2].weights_bytes


@pytest.mark.parametrize(
    ("layout", "held"),
    [
        # 8 experts over 3 ranks: 3, 3 and 2, each of 3 x 32 x 64 x 2 B.
        (Layout(dp=3, ep=True), [3, 3, 2]),
        (Layout(dp=4, ep=True), [2, 2, 2, 2]),
        (Layout(dp=5, ep=True), [2, 2, 2, 1, 1]),
        # 8 and 2 redundant ones over 4 ranks.
        (Layout(dp=4, ep=True, redundant_experts=2), [3, 3, 2, 2]),
    ],
)
def test_uneven_experts(
    make_arch: MakeArch, run: RunJob, mixture_layer: Layer, layout: Layout, held: list[int]
) -> None:
    found = run(make_arch(mixture_layer), layout)
    least = min(rank.weights_bytes for rank in found.ranks)
    assert [(rank.weights_bytes - least) // 12_288 + min(held) for rank in found.ranks] == held
    assert found.weights_bytes == max(rank.weights_bytes for rank in found.ranks)


def test_the_rank_with_least_cache_decides(make_arch: MakeArch, run: RunJob, dense_layer: Layer) -> None:
    # The last of three stages has a table and a large head to share the card with.
    heavy = Layer((Gqa(8, 4, 16, 16),), (Dense(2**20),))
    found = run(make_arch(dense_layer, dense_layer, heavy), Layout(pp=3))
    assert found.busiest.view.rank == 2


def test_a_refused_layout_is_still_weighed(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), Layout(tp=2, ep=True))
    assert isinstance(found.refusal, LayoutError)
    assert found.weights_bytes > 0


def test_a_layout_that_cannot_be_cut_is_an_error(make_arch: MakeArch, run: RunJob) -> None:
    with pytest.raises(LayoutError, match=r"attention heads .8. must be divisible"):
        run(make_arch(), Layout(tp=3))
    with pytest.raises(LayoutError, match="at most 4 stages"):
        run(make_arch(), Layout(pp=5))


def test_offloaded_weights_leave_the_card(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), offload_bytes=100_000)
    assert found.weights_bytes == 556_512 + 64
    assert found.busiest.host_bytes == 100_000


def test_no_more_than_there_is_can_be_offloaded(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), offload_bytes=10**12)
    assert (found.weights_bytes, found.busiest.host_bytes) == (64, 656_512)


def test_a_fixed_pool_is_taken_as_it_is(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), kv_bytes=16_384 * 1000)
    assert found.busiest.pool.num_blocks == 1000
    assert found.busiest.ledger.bytes_of("kv_cache") == 16_384_000


def test_a_pool_below_nothing_takes_no_bytes(make_arch: MakeArch, run: RunJob) -> None:
    found = run(make_arch(), fraction=0.001)
    assert found.busiest.pool.pool_bytes < 0
    assert found.busiest.ledger.bytes_of("kv_cache") == 0


def test_encoders_are_named_in_the_trace(make_arch: MakeArch, run: RunJob) -> None:
    tower = Tower("vision", 1, 32, (Tensor("visual.proj", 96, 32, "rows", units=4),))
    trace = run(make_arch(towers=(tower,))).busiest.ledger.lines[0].trace
    assert "layers 0-3 of 4" in trace
    assert "encoder 6,144 B included" in trace


def test_what_earlier_starts_taught_moves_the_overheads(make_arch: MakeArch, run: RunJob) -> None:
    def double(lines: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple(replace(line, bytes=2 * line.bytes) for line in lines)

    plain, moved = run(make_arch()), run(make_arch(), adjust=double)
    assert moved.busiest.ledger.bytes_of("context") == 2 * plain.busiest.ledger.bytes_of("context")
    assert moved.weights_bytes == plain.weights_bytes
    assert moved.busiest.pool.pool_bytes < plain.busiest.pool.pool_bytes


def test_load_peak_of_the_heaviest_rank(make_arch: MakeArch, run: RunJob) -> None:
    # The last stage and one matrix of 128 x 64 x 2 B.
    assert run(make_arch(), Layout(pp=2)).load_peak_bytes == 328_352 + 16_384
