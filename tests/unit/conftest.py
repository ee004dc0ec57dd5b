"""Small models, cards and ranks whose bytes can be counted by hand."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.catalog.link import Link
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
from tonnage.model.tensor import vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.link import Topology

MakeArch = Callable[..., Arch]
MakeCard = Callable[..., Accelerator]
MakeView = Callable[..., RankView]

NORMS = (vector("input_layernorm", 64), vector("post_attention_layernorm", 64))
# 8 query and 4 KV heads of 16. Elements: q 128 x 64, k and v 64 x 64 each, o 64 x 128 = 24,576.
ATTENTION = Gqa(heads=8, kv_heads=4, head_dim=16, v_head_dim=16)
# Elements: gate, up and down 3 x 128 x 64 = 24,576. With attention and norms a layer has 49,280.
DENSE = Layer((ATTENTION,), (Dense(128),), NORMS)
# Elements: router 8 x 64 = 512, experts 8 x 3 x 32 x 64 = 49,152, shared 3 x 32 x 64 = 6,144.
MIXTURE = Layer((ATTENTION,), (Moe(experts=8, width=32, top_k=2, shared_width=32),), NORMS)
# 8 heads, latent 32, rotary 8. Elements: q 8 x 24 x 64 = 12,288; kv_a 40 x 64 = 2,560 and its norm 32;
# kv_b 8 x 32 x 32 = 8,192; o 64 x 128 = 8,192.
LATENT = Mla(heads=8, q_lora_rank=None, kv_lora_rank=32, nope_dim=16, rope_dim=8, v_dim=16)


def build_arch(*layers: Layer, **changes: Any) -> Arch:
    """An `Arch` of width 64 with a vocabulary of 1,000 (padded: 1,024); four dense layers unless others are given."""
    fields: dict[str, Any] = {
        "family": "toy",
        "architectures": ("LlamaForCausalLM",),
        "hidden": 64,
        "vocab": 1000,
        "tied": False,
        "max_context": 4096,
        "dtype": "bfloat16",
        "layers": layers or (DENSE,) * 4,
        "norms": (vector("model.norm", 64),),
    }
    return Arch(**fields | changes)


def build_card(vendor: str = "nvidia", target: str | None = "sm_90", **changes: Any) -> Accelerator:
    """A card of 80 GiB, eight a node, without links unless `topology` names them."""
    topology: Topology | None = changes.pop("topology", None)
    link = Link("l", "L", 10**11, None, topology, 8, "datasheet", ("https://example.org",)) if topology else None
    fields: dict[str, Any] = {
        "id": f"{vendor}-card",
        "name": "Card",
        "vendor": vendor,
        "segment": "datacenter",
        "memory_bytes": 80 * 2**30,
        "memory_basis": "measured",
        "basis": "datasheet",
        "sources": ("https://example.org",),
        "seen": "2026-11-01",
        "target": target,
        "cards_per_node": 8,
        "link": link,
    }
    return Accelerator(**fields | changes)


def build_view(arch: Arch, layout: Layout | None = None, card: Accelerator | None = None, **changes: Any) -> RankView:
    """Rank 0 of `layout` with all layers on it unless `layers` says otherwise; the rest of `changes` are limits."""
    layout, card = layout or Layout(), card or build_card()
    own = {name: changes.pop(name) for name in RANK_FIELDS if name in changes}
    layers = own.pop("layers", range(len(arch.layers)))
    first, last = layers.start == 0, layers.stop == len(arch.layers)
    limits: dict[str, Any] = {
        "max_model_len": 4096,
        "max_num_seqs": 256,
        "max_num_batched_tokens": 2048,
        "fraction": 0.9,
        "kv_dtype": "bfloat16",
    }
    fields: dict[str, Any] = {
        "rank": 0,
        "parts": gather_parts(arch),
        "layout": layout,
        "widths": plain_widths(layout),
        "layers": layers,
        "is_first": first,
        "is_last": last,
        "has_embedding": first,
        "has_head": last,
        "ep_rank": 0,
        "card": card,
        "card_bytes": card.memory_bytes or 0,
        "serving": Serving(**limits | changes),
    }
    return RankView(**fields | own)


RANK_FIELDS = ("rank", "layers", "has_embedding", "has_head", "ep_rank", "card_bytes", "widths")


@pytest.fixture(scope="session")
def make_arch() -> MakeArch:
    """Builds small models: `make_arch(DENSE, MIXTURE, tied=True)`."""
    return build_arch


@pytest.fixture(scope="session")
def make_card() -> MakeCard:
    """Builds cards: `make_card("amd", "gfx942")`."""
    return build_card


@pytest.fixture(scope="session")
def make_view() -> MakeView:
    """Builds ranks: `make_view(arch, Layout(tp=2), card, max_num_seqs=8)`."""
    return build_view


@pytest.fixture(scope="session")
def dense_layer() -> Layer:
    """One dense layer of 49,280 elements."""
    return DENSE


@pytest.fixture(scope="session")
def mixture_layer() -> Layer:
    """One layer of eight experts and a shared one: 24,576 + 512 + 49,152 + 6,144 + 128 elements."""
    return MIXTURE


@pytest.fixture(scope="session")
def latent_layer() -> Layer:
    """One layer of latent attention with a dense part: 12,288 + 2,560 + 32 + 8,192 + 8,192 + 24,576 + 128 elements."""
    return Layer((LATENT,), (Dense(128),), NORMS)


# Builders of small checkpoint files, written from the descriptions of the formats.
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def pack_safetensors(header: object, data: bytes = b"") -> bytes:
    """A file whose JSON is `header` (text or bytes are taken as they are) followed by `data`."""
    text = (
        header
        if isinstance(header, bytes)
        else header.encode()
        if isinstance(header, str)
        else json.dumps(header).encode()
    )
    return len(text).to_bytes(8, "little") + text + data


def pack_text(order: str, text: str | bytes) -> bytes:
    """A GGUF string: 64-bit length, then the bytes."""
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack(f"{order}Q", len(data)) + data


def pack_value(order: str, kind: int, value: object) -> bytes:
    """A GGUF value without its type; an array is (item type, items)."""
    if kind == 8:
        return pack_text(order, value)  # type: ignore[arg-type]
    if kind == 9:
        item, items = value  # type: ignore[misc]
        return struct.pack(f"{order}IQ", item, len(items)) + b"".join(pack_value(order, item, each) for each in items)
    return struct.pack(order + SCALARS[kind], value)


def pack_gguf(
    keys: Sequence[tuple[str, int, object]] = (),
    tensors: Sequence[tuple[str, tuple[int, ...], int, int]] = (),
    order: str = "<",
    version: int = 3,
    alignment: int = 32,
) -> bytes:
    """A file with `keys` (name, type, value) and `tensors` (name, axes fastest first, ggml type, data bytes)."""
    out = b"GGUF" + struct.pack(f"{order}IQQ", version, len(tensors), len(keys))
    for key, kind, value in keys:
        out += pack_text(order, key) + struct.pack(f"{order}I", kind) + pack_value(order, kind, value)
    data = b""
    for name, axes, kind, size in tensors:
        out += pack_text(order, name) + struct.pack(f"{order}I{len(axes)}QIQ", len(axes), *axes, kind, len(data))
        data += bytes(size) + bytes(-size % alignment)
    return out + bytes(-len(out) % alignment) + data


@pytest.fixture(scope="session")
def safetensors() -> Callable[..., bytes]:
    """The builder of safetensors files."""
    return pack_safetensors


@pytest.fixture(scope="session")
def gguf() -> Callable[..., bytes]:
    """The builder of GGUF files."""
    return pack_gguf
