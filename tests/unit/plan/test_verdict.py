"""Yes or no, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.engine import make_vllm
from tonnage.errors import LayoutError, UnsupportedError
from tonnage.figure import exact
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.memory.engine import Limits, Pool
from tonnage.memory.ledger import Ledger
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch
from tonnage.plan.evaluate import Evaluation, Job, RankResult
from tonnage.plan.verdict import Verdict, judge, refuse
from tonnage.value import replace

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]
MakeView = Callable[..., RankView]
Found = Callable[..., Evaluation]

GIB = 2**30


@pytest.fixture
def found(make_arch: MakeArch, make_card: MakeCard, make_view: MakeView) -> Found:
    """An evaluation of ranks with the sizes given: 80 GiB cards, 72 GiB budgets, one request of 1 GiB."""

    def build(*gib: tuple[int, int], peak: int = 0, refusal: LayoutError | None = None, **limits: Any) -> Evaluation:
        arch, card = make_arch(), make_card()
        job = Job(gather_parts(arch), make_vllm(None, card), card, Layout(tp=len(gib)), Limits(), 80 * GIB)
        ranks = []
        for number, (weights, cache) in enumerate(gib):
            view = make_view(arch, card=card, rank=number, **limits)
            pool = Pool(cache * GIB, 4096 * cache, float(cache), GIB, 4096, 256, 0, 16, 0, cache >= 1)
            lines = (exact("weights", weights * GIB, ""), exact("kv_cache", max(0, cache) * GIB, ""))
            ledger = Ledger(number, 80 * GIB, 72 * GIB, lines, (peak or weights) * GIB)
            ranks.append(RankResult(view, ledger, pool, weights * GIB, 0))
        return Evaluation(job, ranks[0].view.serving, tuple(ranks), refusal)

    return build


def test_a_start_that_works(found: Found) -> None:
    verdict = judge(found((60, 10), (60, 12)))
    # 80 - 60 - 12 is the least room.
    assert verdict == Verdict("fits", "TP2 leaves 8.0 GiB free on the fullest card")
    assert verdict.fits


def test_weights_heavier_than_the_card(found: Found) -> None:
    verdict = judge(found((60, 10), (90, -20)))
    assert verdict == Verdict("weights-exceed-card", "weights need 90.0 GiB a card, the card has 80.0 GiB")
    assert not verdict.fits


def test_loading_that_needs_more_than_the_card(found: Found) -> None:
    verdict = judge(found((60, 10), peak=100))
    assert verdict == Verdict("load-peak-exceeds-card", "loading reaches 100.0 GiB a card, the card has 80.0 GiB")


def test_nothing_left_for_the_cache(found: Found) -> None:
    # 75 GiB of weights in a budget of 72.
    verdict = judge(found((60, 10), (75, -3)))
    assert verdict == Verdict("kv-too-small", "rank 1 needs 75.0 GiB before any cache, its budget is 72.0 GiB")


def test_less_than_one_request(found: Found) -> None:
    evaluation = found((60, 10))
    rank = evaluation.ranks[0]
    small = Pool(GIB // 2, 2048, 0.5, GIB, 2048, 256, 0, 16, 0, fits=False)
    half = RankResult(rank.view, rank.ledger, small, rank.weights_bytes, 0)
    verdict = judge(Evaluation(evaluation.job, evaluation.serving, (half,), None))
    assert verdict.name == "kv-too-small"
    assert verdict.reason == "rank 0 has 0.5 GiB for the cache, one request of 4,096 tokens needs 1.0 GiB"


def test_another_obstacle_is_named(found: Found) -> None:
    evaluation = found((60, 10))
    rank = evaluation.ranks[0]
    crowded = Pool(10 * GIB, 40_960, 10.0, GIB, 4096, 256, 0, 16, 184, fits=False, obstacle="too many sequences")
    verdict = judge(Evaluation(evaluation.job, evaluation.serving, (replace(rank, pool=crowded),), None))
    assert verdict == Verdict("kv-too-small", "rank 0: too many sequences")


@pytest.mark.parametrize(("asked", "name"), [(None, "fits"), (10, "fits"), (11, "kv-too-small")])
def test_requests_at_once(found: Found, asked: int | None, name: str) -> None:
    verdict = judge(found((60, 10), concurrency=asked))
    assert verdict.name == name
    if asked == 11:
        assert verdict.reason == "the cache holds 10.0 requests of 4,096 tokens, 11 were asked for"


def test_a_fixed_pool_asks_only_about_the_cache(found: Found) -> None:
    assert judge(found((90, 10), kv_bytes=10 * GIB)).fits
    assert judge(found((90, 0), kv_bytes=0)).name == "kv-too-small"


def test_the_engine_refuses_first(found: Found) -> None:
    verdict = judge(found((90, -20), refusal=LayoutError("tp", 3, "a divisor of 8")))
    assert verdict == Verdict("layout-invalid", "tp: 3: a divisor of 8")


def test_formats_and_layouts_are_told_apart() -> None:
    assert refuse(LayoutError("ep", "dense model", "experts")).name == "layout-invalid"
    assert refuse(UnsupportedError("awq", "not on V100", "7.5")) == Verdict("unsupported", "awq: not on V100: 7.5")
