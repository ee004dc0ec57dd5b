from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.sglang.graph_sizes import is_latent, num_decode_sizes, num_prefill_sizes, prefill_tokens
from tonnage.engines.sglang.version import NEWEST, Version
from tonnage.layout.layout import Layout
from tonnage.model.arch import Arch, Tower
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla

ArchOf = Callable[..., Arch]


@pytest.mark.parametrize(
    ("largest", "count"),
    # 1-8 one by one, 16-256 by 8: 31 more, 272-512 by 16: 16 more, above by 32.
    [(0, 0), (4, 4), (8, 8), (256, 8 + 31), (512, 8 + 31 + 16), (576, 8 + 31 + 16 + 2)],
)
def test_decode_sizes(largest: int, count: int) -> None:
    assert num_decode_sizes(largest) == count


@pytest.mark.parametrize(
    ("largest", "count"),
    # 8 to 32, 14 to 256, 8 to 512, 8 to 1024, 12 to 4096, 8 to 8192.
    [(32, 8), (256, 22), (512, 30), (1024, 38), (2048, 42), (4096, 50), (8192, 58)],
)
def test_prefill_sizes(largest: int, count: int) -> None:
    assert num_prefill_sizes(largest) == count


def test_prefill_is_captured_for_text_on_one_stage(hopper: Accelerator, gqa: Gqa, arch_of: ArchOf) -> None:
    arch = arch_of(gqa)
    assert prefill_tokens(NEWEST, hopper, arch, Layout(4), 8192) == 8192
    assert prefill_tokens(Version(0, 5, 9), hopper, arch, Layout(4), 8192) == 0
    assert prefill_tokens(NEWEST, hopper, arch, Layout(4, 2), 8192) == 0
    assert prefill_tokens(NEWEST, hopper, arch, Layout(4, dp=4, dp_inside_tp=True), 8192) == 0
    seeing = arch_of(gqa, towers=(Tower("vision", 24, 1024, ()),))
    assert prefill_tokens(NEWEST, hopper, seeing, Layout(4), 8192) == 0


def test_latent_attention_captures_short_prefills(
    hopper: Accelerator, instinct: Accelerator, mla: Mla, gqa: Gqa, arch_of: ArchOf
) -> None:
    assert prefill_tokens(NEWEST, hopper, arch_of(mla), Layout(8), 8192) == 2048
    assert prefill_tokens(NEWEST, hopper, arch_of(mla), Layout(8), 1024) == 1024
    assert prefill_tokens(NEWEST, instinct, arch_of(gqa), Layout(8), 8192) == 0
    assert is_latent(arch_of(mla))
    assert not is_latent(arch_of(gqa))
