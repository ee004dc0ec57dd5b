"""From a rank to the plan of its cache."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.vllm.cache import plan_cache
from tonnage.engines.vllm.defaults import Device
from tonnage.engines.vllm.version import Version
from tonnage.layout.layout import Layout
from tonnage.memory.engine import Pool
from tonnage.memory.rank_view import RankView
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]
MakeView = Callable[..., RankView]

NEW = Version(0, 33)
CUDA = Device("cuda", 80 * 2**30, "Card")
HOST = Device("cpu", 64 * 2**30, "CPU")
MIB = 2**20


def plan(view: RankView, size: int, version: Version = NEW, device: Device = CUDA) -> Pool:
    """The pool made of `size` bytes."""
    return plan_cache(version, device, view, size)


def test_blocks_of_a_dense_model(make_arch: MakeArch, make_view: MakeView) -> None:
    # A block of 16 tokens: 4 layers x 16 x 4 heads x 32 x 2 B = 16,384 B; one request of 4,096 takes 256 blocks.
    pool = plan(make_view(make_arch()), 64 * MIB)
    assert (pool.num_blocks, pool.block_size) == (4096, 16)
    assert pool.concurrency == 16.0
    assert pool.tokens == 65_536
    assert pool.needed_bytes == 4 * MIB
    assert (pool.token_bytes, pool.state_bytes) == (1024, 0)
    assert pool.trace == "4,096 blocks of 16,384 B"
    assert pool.note is None


def test_eight_bits_hold_twice_as_much(make_arch: MakeArch, make_view: MakeView) -> None:
    assert plan(make_view(make_arch(), kv_dtype="fp8"), 64 * MIB).concurrency == 32.0


def test_ranks_past_the_heads_hold_copies(make_arch: MakeArch, make_view: MakeView) -> None:
    # One head of four: a quarter; eight ranks do not make it less.
    four, eight = (plan(make_view(make_arch(), Layout(tp=tp)), 64 * MIB) for tp in (4, 8))
    assert four.token_bytes == eight.token_bytes == 256


def test_a_stage_caches_its_own_layers(make_arch: MakeArch, make_view: MakeView) -> None:
    view = make_view(make_arch(), Layout(pp=2), layers=range(2))
    assert plan(view, 64 * MIB).token_bytes == 512


@pytest.mark.parametrize(
    ("size", "fits"),
    [
        # 256 blocks of 16,384 B, and from 0.29 on a block that stays empty.
        (4 * MIB, False),
        (4 * MIB + 16_384, True),
        (4 * MIB + 16_383, False),
        (0, False),
        (-5, False),
    ],
)
def test_one_request_of_full_length_must_fit(make_arch: MakeArch, make_view: MakeView, size: int, fits: bool) -> None:
    assert plan(make_view(make_arch()), size).fits is fits


def test_before_the_empty_block(make_arch: MakeArch, make_view: MakeView) -> None:
    assert plan(make_view(make_arch()), 4 * MIB, Version(0, 28)).fits
    assert not plan(make_view(make_arch()), 4 * MIB - 1, Version(0, 28)).fits


def test_the_longest_request_of_a_small_pool(make_arch: MakeArch, make_view: MakeView) -> None:
    # 101 blocks, one of them empty: 100 x 16 tokens.
    pool = plan(make_view(make_arch()), 101 * 16_384)
    assert (pool.fits, pool.max_context) == (False, 1600)


def test_the_longest_request_never_exceeds_the_model(make_arch: MakeArch, make_view: MakeView) -> None:
    assert plan(make_view(make_arch(), max_model_len=1024), 64 * MIB).max_context == 4096


def test_a_stated_block(make_arch: MakeArch, make_view: MakeView) -> None:
    pool = plan(make_view(make_arch(), block_size=64), 64 * MIB)
    assert (pool.block_size, pool.num_blocks) == (64, 1024)


def test_context_parallel_ranks_share_a_request(make_arch: MakeArch, make_view: MakeView) -> None:
    # 8 ranks keep one head each, in pairs of copies; each of a pair keeps half of the tokens.
    whole = plan(make_view(make_arch(), Layout(tp=8)), 64 * MIB)
    halves = plan(make_view(make_arch(), Layout(tp=8, dcp=2)), 64 * MIB)
    assert halves.concurrency == 2 * whole.concurrency


def test_windows_are_a_fixed_part(make_arch: MakeArch, make_view: MakeView, dense_layer: Layer) -> None:
    sliding = Layer((Gqa(8, 4, 16, 16, window=512),), (Dense(128),))
    pool = plan(make_view(make_arch(sliding, sliding, dense_layer, dense_layer)), 64 * MIB)
    # Two full layers x 16 x 4 x 32 x 2 B a block: 512 B a token grow.
    assert pool.token_bytes == 512
    assert pool.state_bytes > 0


def test_a_hybrid_on_a_host_is_logged_with_its_own_block(
    make_arch: MakeArch, make_card: MakeCard, make_view: MakeView
) -> None:
    # A state of 16 x 64 x 64 values in 32 bits is larger than 128 tokens of two heads: the planner raises the block.
    linear = Layer((DeltaNet(16, 16, 64, 64, 4),), (Dense(128),))
    full = Layer((Gqa(2, 2, 16, 16),), (Dense(128),))
    view = make_view(make_arch(linear, full), card=make_card("host", None))
    pool = plan(view, 256 * MIB, device=HOST)
    assert pool.block_size == 128
    assert pool.note is not None
    assert "give it as block size" in pool.note
    assert plan(make_view(make_arch(linear, full)), 256 * MIB).note is None
    stated = make_view(make_arch(linear, full), card=make_card("host", None), block_size=4096)
    assert plan(stated, 256 * MIB, device=HOST).note is None


def test_every_sequence_of_a_captured_step_needs_a_block_for_its_state(
    make_arch: MakeArch, make_view: MakeView
) -> None:
    arch = make_arch(Layer((DeltaNet(16, 16, 64, 64, 4),), (Dense(128),)), Layer((Gqa(2, 2, 16, 16),), (Dense(128),)))
    blocks = plan(make_view(arch, max_num_seqs=1), 16 * MIB).num_blocks
    assert blocks is not None
    assert plan(make_view(arch, max_num_seqs=blocks), 16 * MIB).fits
    crowded = make_view(arch, max_num_seqs=blocks + 1)
    pool = plan(crowded, 16 * MIB)
    assert not pool.fits
    assert pool.obstacle == f"max_num_seqs of {blocks + 1} exceeds the {blocks} cache blocks that hold recurrent states"
    # Without graphs, or before 0.20, such a start works.
    assert plan(make_view(arch, max_num_seqs=blocks + 1, eager=True), 16 * MIB).fits
    assert plan(crowded, 16 * MIB, Version(0, 19)).obstacle is None
    assert plan(make_view(make_arch(), max_num_seqs=10**6), 16 * MIB).obstacle is None
