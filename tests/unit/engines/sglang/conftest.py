"""Small models, cards and ranks for the rules of SGLang."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.catalog.link import Link
from tonnage.engines.sglang.widths import sglang_widths
from tonnage.layout.layout import Layout
from tonnage.layout.parts import gather_parts
from tonnage.memory.rank_view import RankView
from tonnage.memory.serving import Serving
from tonnage.model.arch import Arch, Layer
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.mla import Mla
from tonnage.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Mixer

GIB = 2**30
MakeView = Callable[..., RankView]


def make_card(vendor: str, target: str, gib: int, topology: str = "switch") -> Accelerator:
    """A card of `gib` GiB with fast links unless told otherwise."""
    link = Link("link", "link", 450 * 10**9, None, topology, 8, "datasheet", ("test",))  # type: ignore[arg-type]
    return Accelerator(
        id="card", name="card", vendor=vendor, segment="datacenter", memory_bytes=gib * GIB, memory_basis="datasheet",
        basis="datasheet", sources=("test",), seen=None, target=target, cards_per_node=8, link=link,
    )  # fmt: skip


@pytest.fixture
def hopper() -> Accelerator:
    return make_card("nvidia", "sm_90", 80)


@pytest.fixture
def blackwell() -> Accelerator:
    return make_card("nvidia", "sm_100", 178)


@pytest.fixture
def instinct() -> Accelerator:
    return make_card("amd", "gfx950", 288, "mesh")


@pytest.fixture
def bus_card() -> Accelerator:
    return make_card("nvidia", "sm_89", 24, "bus")


@pytest.fixture
def host() -> Accelerator:
    return replace(make_card("host", "x86", 24, "bus"), link=None)


@pytest.fixture
def gqa() -> Gqa:
    """8 query heads over 2 KV heads of 64 values."""
    return Gqa(8, 2, 64, 64)


@pytest.fixture
def mla() -> Mla:
    """DeepSeek V3's latent of 512 + 64 values, with 16 heads."""
    return Mla(16, 32, 512, 128, 64, 128)


@pytest.fixture
def sparse_mla() -> Mla:
    return Mla(16, 32, 512, 128, 64, 128, indexer=Indexer(4, 128, 2048), is_sparse=True)


@pytest.fixture
def moe() -> Moe:
    return Moe(8, 64, 2, shared_width=64)


def make_arch(*mixers: Mixer, ffn: Dense | Moe | None = None, **changes: object) -> Arch:
    """One layer for each mixer, hidden size 512, vocabulary 1000."""
    part = ffn or Dense(128)
    arch = Arch(
        "test", ("TestForCausalLM",), 512, 1000, False, 32768, "bfloat16",
        tuple(Layer((mixer,), (part,)) for mixer in mixers),
    )  # fmt: skip
    return replace(arch, **changes)  # type: ignore[arg-type]


@pytest.fixture
def arch_of() -> Callable[..., Arch]:
    return make_arch


@pytest.fixture
def view_of() -> MakeView:
    """A rank holding a whole model; keywords other than layout and card go to the serving limits."""

    def build(arch: Arch, card: Accelerator, layout: Layout | None = None, **limits: object) -> RankView:
        shape = layout or Layout()
        serving = Serving(4096, 256, 8192, 0.85, "bfloat16")
        return RankView(
            0, gather_parts(arch), shape, sglang_widths(shape), range(len(arch.layers)), True, True, True, True, 0,
            card, card.capacity_bytes, replace(serving, **limits),  # type: ignore[arg-type]
        )  # fmt: skip

    return build
