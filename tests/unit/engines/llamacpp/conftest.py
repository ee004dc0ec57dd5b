"""Small models, cards and devices for the rules of llama.cpp."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.llamacpp.placement import split_layers
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.layout.widths import plain_widths
from tonnage.memory.rank_view import RankView
from tonnage.memory.serving import Serving
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.mla import Mla
from tonnage.value import replace

if TYPE_CHECKING:
    from tonnage.model.arch import Mixer

GIB = 2**30


def make_card(vendor: str, gib: int) -> Accelerator:
    return Accelerator(
        id="card", name="card", vendor=vendor, segment="consumer", memory_bytes=gib * GIB, memory_basis="datasheet",
        basis="datasheet", sources=("test",), seen=None,
    )  # fmt: skip


@pytest.fixture
def card() -> Accelerator:
    return make_card("nvidia", 24)


@pytest.fixture
def host() -> Accelerator:
    return make_card("host", 64)


@pytest.fixture
def gqa() -> Gqa:
    """8 query heads over 2 KV heads of 64 values: a cell of 512 B in f16."""
    return Gqa(8, 2, 64, 64)


@pytest.fixture
def mla() -> Mla:
    """DeepSeek V3's attention: 128 heads, a latent of 512 + 64 values."""
    return Mla(128, 1536, 512, 128, 64, 128)


def make_arch(*mixers: Mixer, ffn: Dense | Moe | None = None, **changes: object) -> Arch:
    """One layer for each mixer, hidden size 512, vocabulary 1000, 32,768 tokens."""
    part = ffn or Dense(128)
    layers = tuple(Layer((mixer,), (part,)) for mixer in mixers)
    arch = Arch("test", ("TestForCausalLM",), 512, 1000, False, 32768, "float16", layers)
    return replace(arch, **changes)


@pytest.fixture
def arch_of() -> Callable[..., Arch]:
    return make_arch


@pytest.fixture
def view_of() -> Callable[..., RankView]:
    """A device of `pp` holding its layers; keywords other than those go to the serving limits."""

    def build(arch: Arch, card: Accelerator, pp: int = 1, device: int = 0, **limits: object) -> RankView:
        layout = Layout(pp=pp)
        serving = replace(Serving(4096, 4, 512, None, "f16"), **limits)
        first, last = device == 0, device == pp - 1
        return RankView(
            device, gather_parts(arch), layout, plain_widths(layout), split_layers(len(arch.layers), pp)[device],
            first, last, first, last, 0, card, card.capacity_bytes, serving,
        )  # fmt: skip

    return build
